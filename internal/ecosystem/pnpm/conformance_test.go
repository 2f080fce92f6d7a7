package pnpm

import (
	"testing"

	"company/internal/ecosystem/ecosystemtest"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"package.json": `{"packageManager":"pnpm@9.0.0","scripts":{"test":"vitest","lint":"eslint ."},"devDependencies":{"eslint":"9","vitest":"2"}}`},
		Lint: "pnpm run lint", Test: "pnpm test",
		GateFiles: []string{"pnpm-workspace.yaml", ".pnpmfile.cjs"},
		Lock:      "pnpm-lock.yaml",
		LockText: "lockfileVersion: '9.0'\npackages:\n\n  '@s/b@2.0.0':\n    resolution: {}\n  a@1.0.0:\n    resolution: " +
			"{}\nsnapshots:\n  zz@1.0.0: {}\n", Packages: "npm @s/b@2.0.0, npm a@1.0.0",
		Blame: []string{
			"ERR_PNPM_OUTDATED_LOCKFILE  Cannot install",
		},
	})
}
