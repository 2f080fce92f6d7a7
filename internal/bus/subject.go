package bus

import (
	"fmt"
	"slices"
	"strings"
)

const (
	// Ledger is the subject of the ledger.
	Ledger = "ledger"
	// JournalPrefix is the prefix of the subjects of journals. Run ids contain dots,
	// so a journal's subject has several parts.
	JournalPrefix = "run."
)

// CheckSubject returns ErrNotAllowed for invalid subjects of a Log. A wildcard, for example, would
// read or purge the records of others.
func CheckSubject(subject string) error {
	if subject == Ledger {
		return nil
	}
	id, ok := strings.CutPrefix(subject, JournalPrefix)
	bad := strings.IndexFunc(id, func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') && (r < '0' || r > '9') && !strings.ContainsRune("._-", r)
	})
	if !ok || bad >= 0 || len(id) > 200 || slices.Contains(strings.Split(id, "."), "") {
		return fmt.Errorf("%w: %q", ErrNotAllowed, subject)
	}
	return nil
}
