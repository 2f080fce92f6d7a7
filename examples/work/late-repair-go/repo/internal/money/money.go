// Package money has sums of money.
package money

import "fmt"

// Cents is a sum in cents.
type Cents int

// String writes the sum with two digits behind the point.
func (c Cents) String() string {
	if c < 0 {
		return "-" + (-c).String()
	}
	return fmt.Sprintf("%d.%02d", int(c)/100, int(c)%100)
}
