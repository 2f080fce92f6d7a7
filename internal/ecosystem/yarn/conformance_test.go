package yarn

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"package.json": `{"packageManager":"yarn@1.22.19","scripts":{"test":"vitest","lint":"eslint ."},"devDependencies":{"eslint":"9","vitest":"2"}}`},
		Lint: "yarn run lint", Test: "yarn test",
		GateFiles: []string{".yarnrc"},
		Lock:      "yarn.lock",
		LockText: "# yarn lockfile v1\n\n\na@^1.0.0, a@^1.1.0:\n  version \"1.1.0\"\n\n\"@s/b@^2\":\n  version " +
			"\"2.0.0\"\n  dependencies:\n    version \"9.9.9\"\n", Packages: "npm @s/b@2.0.0, npm a@1.1.0",
		Blame: []string{
			"error Your lockfile needs to be updated, but yarn was run with `--frozen-lockfile`.",
			"error SyntaxError: Unknown token: { line: 1, col: 0, type: 'INVALID', value: undefined } 1:0 in /opt/out/yarn.lock",
			"error Couldn't find any versions for \"a\" that matches \"^9\"",
		},
	})
}
