"""The only room that starts git: one observation of a repository is one basis, made of few processes."""
