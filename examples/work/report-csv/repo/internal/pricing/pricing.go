// Package pricing says what an order costs.
package pricing

import (
	"example.com/stockroom/internal/catalog"
	"example.com/stockroom/internal/money"
)

// VATPercent is put on every net price.
const VATPercent = 20

// Net is the price of so many pieces of an item before tax.
func Net(item catalog.Item, qty int) int64 {
	return item.Cents * int64(qty)
}

// Gross adds the tax to a net price.
func Gross(net int64) int64 {
	return net + money.Percent(net, VATPercent)
}
