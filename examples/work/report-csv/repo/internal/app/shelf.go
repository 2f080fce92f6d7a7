package app

import (
	"fmt"
	"strconv"

	"example.com/stockroom/internal/money"
	"example.com/stockroom/internal/pricing"
	"example.com/stockroom/internal/report"
)

// inventory is what is there, an item a row.
func (a *App) inventory() report.Sheet {
	s := report.Sheet{Header: []string{"sku", "name", "on hand", "worth"}}
	for _, item := range a.Catalog.Items() {
		n := a.Ledger.OnHand(item.SKU)
		s.Rows = append(s.Rows, []string{item.SKU, item.Name, strconv.Itoa(n), money.Format(pricing.Net(item, n))})
	}
	return s
}

func list(a *App, _ []string) error { return a.inventory().Table(a.Out) }

func price(a *App, args []string) error {
	item, qty, err := a.lookup(args)
	if err != nil {
		return err
	}
	net := pricing.Net(item, qty)
	_, err = fmt.Fprintf(a.Out, "%s net, %s gross\n", money.Format(net), money.Format(pricing.Gross(net)))
	return err
}

func receive(a *App, args []string) error {
	item, qty, err := a.lookup(args)
	if err != nil {
		return err
	}
	if err := a.Ledger.Receive(item.SKU, qty, ""); err != nil {
		return err
	}
	return a.left(item.SKU)
}

func ship(a *App, args []string) error {
	item, qty, err := a.lookup(args)
	if err != nil {
		return err
	}
	if err := a.Ledger.Ship(item.SKU, qty, ""); err != nil {
		return err
	}
	return a.left(item.SKU)
}

// left tells how many are on the shelf now.
func (a *App) left(sku string) error {
	_, err := fmt.Fprintf(a.Out, "%s: %d\n", sku, a.Ledger.OnHand(sku))
	return err
}
