package view

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"company/internal/company"
	"company/internal/lib/lazyregexp"
	"company/internal/lib/safetext"
)

var amountRE = lazyregexp.New(`^(\$?)([0-9]{1,12}(?:\.[0-9]{1,6})?) ?(usd|[km]?tokens?|[km])?$`)

// ParseAmount parses an amount: 5usd, $2.50, 100ktokens, 2Mtokens, 200k. The error is EUsage.
func ParseAmount(text string) (company.Amount, error) {
	bad := company.E(company.EUsage, fmt.Sprintf("invalid amount %q", safetext.EscapeLine(text, 40))).
		Fix("amounts look like 5usd, 2.50usd, 100ktokens or 2Mtokens")
	m := amountRE.FindStringSubmatch(strings.ToLower(text))
	if m == nil || (m[1] == "$") == (m[3] != "") {
		return company.Amount{}, bad
	}
	n, err := strconv.ParseFloat(m[2], 64)
	if err != nil || n == 0 {
		return company.Amount{}, bad
	}
	if m[1] == "$" || m[3] == "usd" {
		return company.Amount{MicroUSD: int64(math.Round(n * 1e6))}, nil
	}
	scale := map[byte]float64{'k': 1e3, 'm': 1e6, 't': 1}[m[3][0]]
	tokens := int64(math.Round(n * scale))
	if tokens == 0 {
		return company.Amount{}, bad
	}
	return company.Amount{Tokens: tokens}, nil
}
