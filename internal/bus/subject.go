package bus

import (
	"encoding/base32"
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
	// ItemPrefix is the prefix of the subjects under which drivers store the items of the queue.
	ItemPrefix = "queue."

	maxItemID = 100 // bytes
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

// CheckItem returns an error if an item cannot be put into a queue.
func CheckItem(item Item) error {
	switch {
	case item.ID == "" || len(item.ID) > maxItemID:
		return fmt.Errorf("put: an item's id must have 1 to %d bytes: %w", maxItemID, ErrNotAllowed)
	case len(item.Body) > MaxRecord:
		return fmt.Errorf("put %s: %w", item.ID, ErrTooLarge)
	}
	return nil
}

var itemEncoding = base32.NewEncoding("0123456789abcdefghijklmnopqrstuv").WithPadding(base32.NoPadding)

// ItemSubject returns the subject of an item. It encodes any id as one part of a subject, which is also
// a valid name of a file.
func ItemSubject(id string) string { return ItemPrefix + itemEncoding.EncodeToString([]byte(id)) }

// ItemID returns the id of an item by its subject.
func ItemID(subject string) (string, error) {
	id, err := itemEncoding.DecodeString(strings.TrimPrefix(subject, ItemPrefix))
	return string(id), err
}
