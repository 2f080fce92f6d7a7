package node

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{"package.json": `{"scripts":{"test":"node --test","lint":"eslint ."},"devDependencies":{"eslint":"9"}}`},
		Lint:  "npm run lint", Test: "npm test",
		Lock:     "package-lock.json",
		LockText: `{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0"},"node_modules/@s/b":{"version":"2.0.0"}}}`, Packages: "npm @s/b@2.0.0, npm a@1.0.0",
		Blame: "npm error code EUSAGE\nnpm error `npm ci` can only install packages when",
	})
}
