package berry

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"package.json": `{"packageManager":"yarn@4.1.0","scripts":{"test":"vitest","lint":"eslint ."},"devDependencies":{"eslint":"9","vitest":"2"}}`},
		Lint: "yarn run lint", Test: "yarn test",
		Lock: "yarn.lock",
		LockText: "# more\n\n__metadata:\n  version: 8\n  cacheKey: 10c0\n\n\"@s/b@npm:2.0.0\":\n  version: " +
			"2.0.0\n\n\"a@npm:^1.0.0\":\n  version: 1.1.0\n\n\"me@workspace:.\":\n  version: 0.0.0-use.local\n",
		Packages:  "npm @s/b@2.0.0, npm a@1.1.0",
		GateFiles: []string{".yarnrc.yml", ".pnp.cjs"},
		Blame: []string{
			"➤ YN0028: │ The lockfile would have been modified by this install, which is explicitly forbidden.",
			"YAMLException: null byte is not allowed in input (1:1)",
			"➤ YN0035: │ no-such-package-a7f3@npm:1.0.0: The remote server failed to provide the requested resource\n➤ " +
				"YN0035: │   Response Code: 404 (Not Found)",
		},
	})
}
