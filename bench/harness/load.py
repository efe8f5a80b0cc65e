"""How much is done in a round."""

from dataclasses import dataclass

# Nodes of a linear flow, and steps of an agent.
NODES = 10
STEPS = 40


@dataclass(frozen=True)
class Load:
    # What `ff bench` and peers call it.
    scenario: str
    # Tasks, nodes or steps; see the scenario.
    size: int
    workers: int = 16
    batch: int = 32
    payload: int = 4_096

    @property
    def agents(self):
        return max(1, self.size // STEPS)

    @property
    def flows(self):
        return max(1, self.size // NODES)

    @property
    def warmup(self):
        """Tasks or agents a peer may do before it is measured."""
        return max(1, self.agents // 10) if self.scenario == "s10" else max(1, self.size // 10)
