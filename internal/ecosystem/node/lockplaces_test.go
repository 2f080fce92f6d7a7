package node

import "testing"

// What npm's lock file says of the project, its folders and of what stands in a package's place is what manifests of
// the tree say, or the base's lock file: npm takes its word where it cannot read a manifest. (T24)
func TestManifestsOfALockFile(t *testing.T) {
	lock := func(entries string) string { return `{"packages":{"":{},` + entries + `}}` }
	replaced := `"node_modules/x":{"name":"a","version":"1.0.0"}`
	archive := `"node_modules/x":{"version":"1.0.0","resolved":"file:x.tgz"}`
	part := `"parts/p":{"version":"1.0.0","dependencies":{"x":"npm:a@^1"}}`
	for name, c := range map[string]struct {
		base, text, project, part string
		isOdd                     bool
	}{
		"another package":               {text: lock(replaced), project: `{}`, isOdd: true},
		"as the project asks":           {text: lock(replaced), project: `{"dependencies":{"x":"npm:a@^1"}}`},
		"another than the project asks": {text: lock(replaced), project: `{"dependencies":{"x":"npm:b@^1"}}`, isOdd: true},
		"as the base has it": {base: lock(replaced),
			text: lock(`"node_modules/x":{"name":"a","version":"1.1.0"}`), project: `{}`},
		"as the project replaces": {text: lock(replaced),
			project: `{"dependencies":{"x":"^1"},"overrides":{"x":"npm:a@1"}}`},
		"as it replaces in one": {text: lock(replaced + `,"node_modules/b":{"version":"2.0.0"}`),
			project: `{"overrides":{"b@^2":{".":"2.0.0","x":"npm:a@1"}}}`},
		"as it replaces in none": {text: lock(replaced),
			project: `{"overrides":{"b@^2":{".":"2.0.0","x":"npm:a@1"}}}`, isOdd: true},
		"as it replaces by a request": {text: lock(replaced),
			project: `{"devDependencies":{"y":"npm:a@1"},"overrides":{"x":"$y"}}`},
		"by a request for another": {text: lock(replaced),
			project: `{"devDependencies":{"y":"npm:b@1"},"overrides":{"x":"$y"}}`, isOdd: true},
		"a mark before the manifest": {text: lock(replaced), project: "\ufeff" + `{"dependencies":{"x":"npm:a@^1"}}`},
		"as a part asks": {text: lock(replaced + "," + part), project: `{}`,
			part: `{"dependencies":{"x":"npm:a@^1"}}`},
		"as no part asks": {text: lock(replaced + "," + part), project: `{}`,
			part: `{"dependencies":{"x":"^1"}}`, isOdd: true},
		"as a part that is not there": {text: lock(replaced + "," + part), project: `{}`, isOdd: true},
		"a part of the base":          {base: lock(part), text: lock(replaced + "," + part), project: `{}`},
		// which the registry is asked for
		"as a package asks": {text: lock(
			replaced + `,"node_modules/b":{"version":"1.0.0","dependencies":{"x":"npm:a@^1"}}`), project: `{}`},
		"the project, by the file alone": {text: `{"packages":{"":{"dependencies":{"x":"npm:a@^1"}},` + replaced + `}}`,
			project: `{}`, isOdd: true},
		"an archive":                   {text: lock(archive), project: `{"dependencies":{"x":"^1"}}`, isOdd: true},
		"an archive that is asked for": {text: lock(archive), project: `{"devDependencies":{"x":"file:x.tgz"}}`},
		"another archive than asked for": {text: lock(archive), project: `{"devDependencies":{"x":"file:y.tgz"}}`,
			isOdd: true},
		"one that a part asks for": {text: lock(
			archive + `,"node_modules/p":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"dependencies":{"p":"file:parts/p"}}`, part: `{"name":"p","dependencies":{"x":"file:../../x.tgz"}}`},
		"another than a part asks for": {text: lock(
			archive + `,"node_modules/p":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"dependencies":{"p":"file:parts/p"}}`, part: `{"name":"p","dependencies":{"x":"file:x.tgz"}}`,
			isOdd: true},
		"one under another name": {text: lock(
			`"node_modules/x":{"name":"a","version":"1.0.0","resolved":"file:x%20y.tgz"}`),
			project: `{"dependencies":{"x":"file:x y.tgz"}}`},
		"one of an override": {text: lock(archive + `,"node_modules/b":{"version":"1.0.0"}`),
			project: `{"overrides":{"b":{"x":"file:./x.tgz"}}}`},
		"one of an override of none": {text: lock(archive), project: `{"overrides":{"b":{"x":"file:./x.tgz"}}}`,
			isOdd: true},
		"an archive of the base": {base: lock(archive), text: lock(archive + `,"node_modules/b":{"version":"1.0.0"}`),
			project: `{}`},
		"a link to a package": {text: lock(
			`"node_modules/x":{"link":true,"resolved":"node_modules/a"},"node_modules/a":{"version":"1.0.0"}`), project: `{}`,
			isOdd: true},
		"a link to nothing": {text: lock(`"node_modules/x":{"link":true,"resolved":"x"}`), project: `{}`,
			isOdd: true},
		"a link to a part": {text: lock(
			`"node_modules/p":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"workspaces":["parts/*"]}`, part: `{}`},
		"a link to a part by its name": {text: lock(
			`"node_modules/@s/p":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"workspaces":{"packages":["./parts/p/"]}}`, part: `{"name":"@s/p"}`},
		"a part in another's place": {text: lock(
			`"node_modules/x":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"workspaces":["parts/*"]}`, part: `{"name":"p"}`, isOdd: true},
		"a folder that is not a part": {text: lock(
			`"node_modules/p":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`), project: `{}`,
			part: `{"name":"p"}`, isOdd: true},
		"a part that is not in the tree": {text: lock(
			`"node_modules/p":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"workspaces":["parts/*"]}`, isOdd: true},
		"a folder that is asked for": {text: lock(
			`"node_modules/x":{"link":true,"resolved":"parts/p"},"parts/p":{"version":"1.0.0"}`),
			project: `{"dependencies":{"x":"file:./parts/p"}}`, part: `{"name":"p"}`},
		"npm 6, another package": {text: `{"dependencies":{"x":{"version":"npm:a@1.0.0"}}}`, project: `{}`,
			isOdd: true},
		"npm 6, as the project asks": {text: `{"dependencies":{"x":{"version":"npm:a@1.0.0"}}}`,
			project: `{"dependencies":{"x":"npm:a@1.0.0"}}`},
		"npm 6, an archive": {text: `{"dependencies":{"x":{"version":"file:x.tgz"}}}`, project: `{}`,
			isOdd: true},
		"npm 6, a folder of the project": {text: `{"dependencies":{"x":{"version":"file:x"}}}`,
			project: `{"dependencies":{"x":"file:x"}}`},
		"programs that the part has": {text: lock(`"parts/p":{"version":"1.0.0","bin":{"p":"cli.js"}}`), project: `{}`,
			part: `{"name":"@s/p","bin":"./cli.js"}`},
		"programs that the part has not": {text: lock(`"parts/p":{"version":"1.0.0","bin":{"tsc":"cli.js"}}`), project: `{}`,
			part: `{"name":"@s/p","bin":"./cli.js"}`, isOdd: true},
	} {
		manifests := map[string][]byte{"web/package.json": []byte(c.project)}
		if c.part != "" {
			manifests["web/parts/p/package.json"] = []byte(c.part)
		}
		err := Ecosystem{}.CheckManifests("web/package-lock.json", []byte(c.text), []byte(c.base), manifests)
		if (err != nil) != c.isOdd {
			t.Errorf("%s: %v", name, err)
		}
	}
}
