package company

import (
	"errors"
	"fmt"

	"company/internal/glob"
)

// parseGlob reads a glob. One that cannot be read is an EInvalid error.
func parseGlob(s string) (glob.Glob, error) {
	g, err := glob.Parse(s)
	if bad := (*glob.SyntaxError)(nil); errors.As(err, &bad) {
		return g, E(EInvalid, err.Error()).Fix(bad.Fix)
	}
	return g, err
}

// quoteShort quotes a text of others, up to 60 bytes of it.
func quoteShort(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%q...", s[:60])
	}
	return fmt.Sprintf("%q", s)
}
