package config

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"
)

// Auto and None are values that several keys accept.
const (
	Auto = "auto"
	None = "none"
)

// Size is a number of bytes, written as 512m or 4g.
type Size int64

// AutoSize is a Size, or auto if it is 0.
type AutoSize Size

// USD is an amount of money in millionths of a dollar, written as 0.25.
type USD int64

// USDCap is an amount in USD, or none (company.NoCap).
type USDCap int64

// TokenCap is a number of tokens, none (company.NoCap), or auto (TokensAuto).
type TokenCap int64

// TokenLimit is a number of tokens, or none (company.NoCap).
type TokenLimit int64

// TokensAuto is the value auto of budget.tokens.
const TokensAuto TokenCap = -2

// Command is a gate: auto, none, or a command. A command is a shell line, or a list of arguments that runs without a
// shell.
type Command struct {
	Mode string   // Auto, None, or "" for a command
	Line string   // one line for sh -c
	Argv []string // arguments, if given as a list
}

func (s Size) String() string {
	for i, unit := range []string{"t", "g", "m", "k"} {
		if n := Size(1) << (40 - 10*i); s >= n && s%n == 0 {
			return strconv.FormatInt(int64(s/n), 10) + unit
		}
	}
	return strconv.FormatInt(int64(s), 10) + "b"
}

func (s AutoSize) String() string {
	if s == 0 {
		return Auto
	}
	return Size(s).String()
}

func (u USD) String() string {
	s := fmt.Sprintf("%d.%06d", int64(u)/1_000_000, int64(u)%1_000_000)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

func (u USDCap) String() string {
	if u < 0 {
		return None
	}
	return USD(u).String()
}

func (t TokenLimit) String() string { return TokenCap(t).String() }

func (t TokenCap) String() string {
	switch {
	case t == TokensAuto:
		return Auto
	case t < 0:
		return None
	}
	return strconv.FormatInt(int64(t), 10)
}

func (c Command) String() string {
	switch {
	case c.Mode != "":
		return c.Mode
	case c.Argv != nil:
		b, _ := json.Marshal(c.Argv) // strings always encode
		return string(b)
	}
	return c.Line
}

// valueError is the error for a refused value, with the allowed values.
type valueError struct{ what, allowed string }

func (w *valueError) Error() string { return w.what + " (allowed: " + w.allowed + ")" }

func notAllowed(allowed string) error { return &valueError{"is not what is needed", allowed} }

// Descriptions of the accepted forms of values, for people.
const (
	durationForm = "a time with its unit, such as 300s or 30m"
	sizeForm     = "a size with its unit, such as 512m or 4g"
	usdForm      = "an amount in USD, such as 5 or 0.25"
	tokensForm   = "a number of tokens"
)

func parseSize(s string) (Size, error) {
	t := strings.ToLower(strings.TrimSpace(s))
	digits := strings.TrimRight(t, "abcdefghijklmnopqrstuvwxyz")
	var shift uint
	switch t[len(digits):] {
	case "b":
	case "k", "kb", "kib":
		shift = 10
	case "m", "mb", "mib":
		shift = 20
	case "g", "gb", "gib":
		shift = 30
	case "t", "tb", "tib":
		shift = 40
	default:
		return 0, notAllowed(sizeForm)
	}
	n, err := parseInt(digits, sizeForm)
	if err != nil {
		return 0, err
	}
	if n > math.MaxInt64>>shift {
		return 0, &valueError{"is too large", sizeForm}
	}
	return Size(n << shift), nil
}

// parseInt parses a non-negative integer.
func parseInt(s, allowed string) (int64, error) {
	n, err := strconv.ParseInt(s, 10, 64)
	switch {
	case strings.HasPrefix(s, "-"):
		return 0, &valueError{"is negative", allowed}
	case err != nil && len(s) > 18 && strings.Trim(s, "0123456789") == "":
		return 0, &valueError{"is too large", allowed}
	case err != nil || s[0] == '+':
		return 0, notAllowed(allowed)
	}
	return n, nil
}

// parseUSD parses a decimal with up to six places, without rounding.
func parseUSD(s string) (USD, error) {
	const allowed = usdForm + ", up to 1000000"
	whole, frac, dot := strings.Cut(strings.TrimSpace(s), ".")
	if strings.HasPrefix(whole, "-") {
		return 0, &valueError{"is negative", allowed}
	}
	if len(frac) > 6 || dot && frac == "" || strings.Trim(whole+frac, "0123456789") != "" || whole == "" {
		return 0, notAllowed(allowed)
	}
	if len(whole) > 7 {
		return 0, &valueError{"is too large", allowed}
	}
	n, err := strconv.ParseInt(whole+frac+strings.Repeat("0", 6-len(frac)), 10, 64)
	switch {
	case err != nil:
		return 0, notAllowed(allowed)
	case n > 1_000_000_000_000:
		return 0, &valueError{"is too large", allowed}
	}
	return USD(n), nil
}

func parseTokens[T TokenCap | TokenLimit](s string) (T, error) {
	n, err := parseInt(strings.ReplaceAll(s, "_", ""), tokensForm)
	if err == nil && n > 1_000_000_000_000 {
		err = &valueError{"is too large", tokensForm}
	}
	return T(n), err
}

func parseDuration(s string) (time.Duration, error) {
	d, err := time.ParseDuration(s)
	switch {
	case err != nil || s == "0":
		return 0, notAllowed(durationForm)
	case d < 0:
		return 0, &valueError{"is negative", durationForm}
	}
	return d, nil
}
