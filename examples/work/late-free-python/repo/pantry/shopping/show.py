"""The text of a shopping list."""


def show_items(items):
    """A line for each item, with the amounts in a column of their own."""
    amounts = [str(item.amount) for item in items]
    width = max(map(len, amounts), default=0)
    return ''.join(
        f'{amount:>{width}}  {item.name}\n' for amount, item in zip(amounts, items)
    )
