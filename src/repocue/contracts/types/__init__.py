"""Typed values of contracts that other rooms work with: `reader.convert(document, Type)`.

Fields are the contract's members in its fixed order, so encoding a value gives the canonical member order. A member
that may be absent has the type `UnsetType` beside its own and the default `UNSET`, which encoding leaves out; null
is None. A duration keeps the integer or the fraction it was written as. The schema stays the authority: a struct
repeats its shape, not its bounds and forms.
"""
