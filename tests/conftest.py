"""How hypothesis searches: the same examples in every run, so that green stays green. Long searches are marked slow."""

from hypothesis import HealthCheck, settings

settings.register_profile(
    "moonxi",
    max_examples=30,
    deadline=None,
    derandomize=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.differing_executors],
)
settings.load_profile("moonxi")
