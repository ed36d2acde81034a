"""``tensor-shape``: functions are run on shapes alone while mypy checks them.

`attached` puts the text of an annotation on mypy's type, `marker` brings the check into a function, and `statements`,
`expressions` and `calls` run it on the values of `values` and `objects`. The operations are those of `ShapeTensor`.
"""
