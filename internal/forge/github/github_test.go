package github

import (
	"testing"

	"company/internal/forge"
	"company/internal/forge/forgetest"
	"company/test/goroutines"
)

func TestMain(m *testing.M) { goroutines.Main(m) }

func newBench(t *testing.T) *forgetest.Fixture {
	t.Helper()
	return forgetest.NewFixture(t, forgetest.NewGitHub(t), func(o forge.Options) forge.Forge {
		c, err := New(o)
		if err != nil {
			t.Fatal(err)
		}
		return c
	})
}

func mustNew(t *testing.T, b *forgetest.Fixture, token string) *Client {
	t.Helper()
	c, err := New(b.Options(token))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// FRG-1, FRG-2.
func TestForge(t *testing.T) {
	forgetest.Exercise(t, func(t *testing.T) *forgetest.Fixture {
		t.Parallel()
		return newBench(t)
	})
}
