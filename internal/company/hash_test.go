package company_test

import (
	"testing"

	"company/internal/company"
)

// TestHashOf holds the hash of a known text, so that a change of the
// canonical form cannot pass unnoticed: ledgers on disk depend on it.
func TestHashOf(t *testing.T) {
	t.Parallel()
	got, err := company.HashOf(map[string]any{"b": []int{1, 2}, "a": "é"})
	// printf '{"a":"é","b":[1,2]}' | sha256sum
	if want := company.Hash("9cfb1f938a87f2b8f3b8cc429c7a09116d54f048322742d4c23d4767b85f85da"); err != nil ||
		got != want {
		t.Fatalf("HashOf = %s, %v; want %s", got, err, want)
	}
}
