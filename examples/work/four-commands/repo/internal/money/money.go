// Package money has amounts in whole cents.
package money

import (
	"fmt"
	"strconv"
	"strings"
)

// Cents is an amount.
type Cents int64

// Parse reads an amount such as 95, 95.5 or 95.00.
func Parse(text string) (Cents, error) {
	whole, part, _ := strings.Cut(text, ".")
	for len(part) < 2 {
		part += "0"
	}
	n, err := strconv.ParseUint(whole+part, 10, 40)
	if err != nil || whole == "" || len(part) > 2 {
		return 0, fmt.Errorf("%q is no amount", text)
	}
	return Cents(n), nil
}

func (c Cents) String() string {
	if c < 0 {
		return "-" + (-c).String()
	}
	return fmt.Sprintf("%d.%02d", c/100, c%100)
}
