"""Runs FlowFabric, its peers and a bare queue in turn, on one store server, and compares them round by round."""
