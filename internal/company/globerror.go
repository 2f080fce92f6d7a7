package company

import (
	"errors"
	"fmt"

	"company/internal/company/glob"
)

// parseGlob parses a glob. An invalid one is an EInvalid error.
func parseGlob(s string) (glob.Glob, error) {
	g, err := glob.Parse(s)
	if bad := (*glob.SyntaxError)(nil); errors.As(err, &bad) {
		return g, E(EInvalid, err.Error()).Fix(bad.Fix)
	}
	return g, err
}

// quoteShort quotes at most 60 bytes of an untrusted text.
func quoteShort(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q...", s[:60])
	}
	return fmt.Sprintf("%q", s)
}
