package node

import (
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/ecosystem/testreport"
)

func TestConformance(t *testing.T) {
	ecosystemtest.Exercise(t, Ecosystem{}, ecosystemtest.Fixture{
		Files: map[string]string{
			"package.json": `{"scripts":{"test":"node --test","lint":"eslint ."},"devDependencies":{"eslint":"9"}}`},
		Lint: "npm run lint", Test: "npm test",
		Lock:     "package-lock.json",
		LockText: `{"lockfileVersion":3,"packages":{"":{},"node_modules/a":{"version":"1.0.0"},"node_modules/@s/b":{"version":"2.0.0"}}}`, Packages: "npm @s/b@2.0.0, npm a@1.0.0",
		Blame: []string{
			"npm error code EUSAGE\nnpm error `npm ci` can only install packages when",
			"npm error code E404\nnpm error 404  'x@1' is not in this registry.",
			"npm error code EINTEGRITY",
			"npm error code ETARGET\nnpm error notarget No matching version found for x@9.",
			"npm error code ERESOLVE\nnpm error ERESOLVE unable to resolve dependency tree",
		},
		Reports: []ecosystemtest.Report{
			{File: "node-test.tap", Format: formatTAP, Passed: 2, Skipped: 2,
				Failed: []string{"suite", "suite > bad", "test/b.test.js"}, Unrun: []string{"test/b.test.js"}},
			{File: "mocha.tap", Format: formatTAP, Passed: 1, Skipped: 2, Failed: []string{"suite bad odd"}},
			{File: "vitest.xml", Format: testreport.FormatJUnit, Passed: 1, Skipped: 1,
				Failed: []string{"vt/a.test.mjs suite > bad", "vt/b.test.mjs vt/b.test.mjs"},
				Unrun:  []string{"vt/b.test.mjs vt/b.test.mjs"}},
			{File: "tsc.txt", Format: formatTypeScript, Failed: []string{
				"src/a.ts: TS2322: Type 'string' is not assignable to type 'number'.",
				"src/a.ts: TS2322: Type '{ deep: { a: number; }; }' is not assignable to type 'string'.",
			}},
			{File: "jest.json", Format: formatJestJSON, Passed: 1, Skipped: 2,
				Failed: []string{"jt/a.test.js suite bad", "jt/b.test.js (did not run)"},
				Unrun:  []string{"jt/b.test.js (did not run)"}},
		},
		Canaries: []ecosystemtest.Canary{
			{Change: map[string]string{"a.test.js": "import test from 'node:test';\n"}, Dirs: []string{""}},
			{Change: map[string]string{"package.json": "{}", "web/a.spec.ts": ""}, Dirs: []string{"web"}}},
		GateFiles: []string{"package.json"},
		Served: ecosystemtest.Served{Package: company.Dependency{Ecosystem: ecosystem.NPM, Name: "@s/a", Version: "1.0.0"},
			Needs: "npm b, npm real", Default: "https://registry.npmjs.org",
			Files: map[string]string{
				"/@s%2fa":  `{"name":"@s/a","dist-tags":{"latest":"1.0.0"},"versions":{"2.0.0-rc.1":{"version":"2.0.0-rc.1","dist":{}},"1.0.0":{"version":"1.0.0","dependencies":{"b":"^1","alias":"npm:real@1"},"dist":{"tarball":"` + ecosystemtest.URL("/f/a.tgz") + `","integrity":"sha512-WBQM9fuLkpBn60cFcU9GUnOBEyhwVxbOpyle0gD/abK/W01QtcFtEsDGj3RZYWrpP2UxasHjQ2plCE6FrzLYdg=="}}}}`,
				"/f/a.tgz": "tarball"},
			Metadata: []string{"@s%2fa", "@s/a"}, File: "@s/a/-/a-1.0.0.tgz"},
	})
}
