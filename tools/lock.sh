# Remake requirements/*.lock: exact versions of everything, for every platform, without hosts or paths.
set -eu
compile() {
    uv pip compile --quiet --upgrade --universal --python-version 3.11 --no-header --no-annotate \
        --no-emit-index-url --no-emit-find-links "$@"
}
compile pyproject.toml -o requirements/runtime.lock
compile --group pyproject.toml:build -c requirements/runtime.lock -o requirements/build.lock
compile pyproject.toml --group pyproject.toml:dev -c requirements/runtime.lock -c requirements/build.lock \
    -o requirements/dev.lock
