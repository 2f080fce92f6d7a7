package github

import (
	"testing"

	"go.uber.org/goleak"

	"company/internal/forge/forgetest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func newBench(t *testing.T) *forgetest.Bench {
	t.Helper()
	b := forgetest.NewBench(t, forgetest.GitHub(t))
	b.Forge = mustNew(t, b, "owner-token")
	return b
}

func mustNew(t *testing.T, b *forgetest.Bench, token string) *Client {
	t.Helper()
	c, err := New(b.Options(token))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FRG-1, FRG-2.
func TestForge(t *testing.T) { forgetest.Exercise(t, newBench) }
