package rust

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"Cargo.toml": "[package]\n"},
		Lint:  "cargo clippy --offline --all-targets", Test: "cargo test --offline --no-fail-fast",
	})
}
