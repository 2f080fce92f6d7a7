package node

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"package.json": `{"scripts":{"test":"node --test","lint":"eslint ."},"devDependencies":{"eslint":"9"}}`},
		Lint:  "npm run lint", Test: "npm test",
	})
}
