"""Writes rules in their canonical form."""


def show(rules):
    """Writes rules so that parse gives the same ones again."""
    return "\n".join(_show_rule(rule) for rule in rules)


def _show_rule(rule):
    lines = [
        f"rule {rule.name}",
        f"when {rule.condition.show()}",
        "then " + ", ".join(action.show() for action in rule.actions),
    ]
    if rule.stop:
        lines.append("stop")
    return "\n".join(lines) + "\n"
