"""What is to be bought."""

from pantry.shopping.items import Item, list_items
from pantry.shopping.show import show_items

__all__ = ['Item', 'list_items', 'show_items']
