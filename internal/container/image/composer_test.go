package image

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/ecosystem"
	"company/internal/ecosystem/ecosystemtest"
	"company/internal/lib/hosttest"
)

// newComposerRegistry has acme/left, which needs acme/right, a PHPUnit that says that it is
// the lock file's, and a plugin.
func newComposerRegistry(t *testing.T) ecosystem.Endpoint {
	t.Helper()
	source := func(c string) string {
		return fmt.Sprintf(`,"source":{"type":"git","url":"https://git.example/x.git","reference":%q}`, strings.Repeat(c, 40))
	}
	return ecosystem.Endpoint{URL: ecosystemtest.ServeComposer(t, map[string]ecosystemtest.ComposerPackage{
		"acme/left": {Version: "v1.2.0", Reference: strings.Repeat("a", 40),
			Fields: source("a") + `,"require":{"acme/right":"^1"},"autoload":{"psr-4":{"Acme\\Left\\":"src/"}}`,
			Zip: ecosystemtest.Zip(
				t, [2]string{"acme-left-a/src/Word.php",
					"<?php\nnamespace Acme\\Left;\nclass Word { const TEXT = \\Acme\\Right\\Word::TEXT; }\n"})},
		"acme/right": {Version: "1.0.0", Reference: strings.Repeat("b", 40),
			Fields: source("b") + `,"autoload":{"psr-4":{"Acme\\Right\\":"src/"}}`,
			Zip: ecosystemtest.Zip(
				t, [2]string{"acme-right-b/src/Word.php",
					"<?php\nnamespace Acme\\Right;\nclass Word { const TEXT = 'hello'; }\n"})},
		"phpunit/phpunit": {Version: "11.0.0", Reference: strings.Repeat("c", 40), Fields: source("c") + `,"bin":["phpunit"]`,
			Zip: ecosystemtest.Zip(
				t, [2]string{"phpunit-c/phpunit",
					"#!/usr/bin/env php\n<?php\necho \"of the lock file\\n\";\nrequire '/usr/bin/phpunit';\n"})},
		"acme/broken": {Version: "v1.2.0", Reference: strings.Repeat("e", 40),
			Zip: ecosystemtest.Zip(t, [2]string{"broken/a.php", "<?php\n"}, [2]string{"/opt/b.php", "<?php\n"})},
		"acme/plugin": {Version: "1.0.0", Reference: strings.Repeat("d", 40),
			Fields: source("d") +
				`,"type":"composer-plugin","require":{"composer-plugin-api":"^2.0"},"extra":{"class":"Acme\\Plugin"},"autoload":{"psr-4":{"Acme\\":"src/"}}`,
			Zip: ecosystemtest.Zip(
				t, [2]string{"acme-plugin-d/src/Plugin.php",
					"<?php\nnamespace Acme;\ntouch(getcwd() . '/vendor/canary');\nclass Plugin {}\n"})},
	}).URL}
}

// composerProject is a project whose test passes with acme/left alone.
func composerProject() map[string]string {
	return map[string]string{
		"composer.json": `{"name":"own/own","require":{"php":">=8","ext-absent":"*","acme/left":"^1.0","own/part":"*"},"require-dev":{"phpunit/phpunit":"*","acme/plugin":"*"},"config":{"allow-plugins":true},"repositories":[{"type":"path","url":"parts/*"}],` +
			`"autoload":{"psr-4":{"Own\\":"src/"},"classmap":["old/"]},"scripts":{"pre-install-cmd":"touch /opt/out/canary","pre-update-cmd":"touch /opt/out/canary","post-autoload-dump":"touch canary"},"minimum-stability":"dev","prefer-stable":true}`,
		"parts/part/composer.json": `{"name":"own/part","version":"1.0.0","require":{"acme/right":"*"},"autoload":{"psr-4":{"Part\\":"src/"}}}`,
		"parts/part/src/Word.php":  "<?php\nnamespace Part;\nclass Word { const TEXT = \\Acme\\Right\\Word::TEXT . '!'; }\n",
		"src/Own.php": "<?php\nnamespace Own;\nclass Own { const TEXT = \\Acme\\Left\\Word::TEXT . ' ' . " +
			"\\Part\\Word::TEXT; }\n",
		"old/Old.php": "<?php\nclass Old { const TEXT = 'old'; }\n",
		"tests/OwnTest.php": "<?php\nclass OwnTest extends \\PHPUnit\\Framework\\TestCase { public function testWord(): " +
			"void { $this->assertSame('hello hello! old', \\Own\\Own::TEXT . ' ' . Old::TEXT); } }\n",
	}
}

// phpGate is the gate of composerProject.
const phpGate = "COMPOSER_DISABLE_NETWORK=1 composer dump-autoload --quiet --no-interaction --no-scripts " +
	"--no-plugins && PATH=vendor/bin:$PATH phpunit --bootstrap vendor/autoload.php tests"

// ADP-2: composer's packages without a lock file, and of the one that was made: they are
// copied into the tree, with the PHPUnit that they name; scripts and plugins do not run, and a
// package of the tree stays there. Composer itself finds nothing to do.
func TestComposer(t *testing.T) {
	hosttest.Long(t, "PHP is installed from Debian's archives")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.Packagist] = ecosystem.At(newComposerRegistry(t))
	useRegistries(t, be, up, t.TempDir())
	p := newProject(t)
	req := Request{Toolchains: []string{"php"}, Repo: p.commit(composerProject())}
	got, err := be.Resolve(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	lock := string(got.Locks["composer.lock"])
	if len(got.Locks) != 1 || !strings.Contains(lock, "/zip/"+strings.Repeat("a", 40)) || strings.Contains(lock, "8377") {
		t.Fatalf("%d lock files: %s", len(got.Locks), lock)
	}
	if notes := strings.Join(got.Notes, "\n"); !strings.HasPrefix(
		notes, "composer.json has no lock file: 4 packages resolved for this task: acme/left v1.2.0") {
		t.Errorf("notes %q", notes)
	}
	p.git("checkout", "-q", "-b", "locked")
	req.Repo.Locks = p.commit(map[string]string{"composer.lock": lock}).Commit
	out := be.runInTree(t, be.mustEnsure(t, req),
		`php -r 'require "vendor/autoload.php"; echo Own\Own::TEXT, "\n";'; `+phpGate+
			`; COMPOSER_DISABLE_NETWORK=1 composer install -n --no-scripts --no-plugins '--ignore-platform-req=ext-*' 2>&1; git status --porcelain; ls . vendor; ls vendor/acme/plugin/src; ls /opt/out 2>&1 || true`)
	for _, want := range []string{"hello hello!\n", "of the lock file\n", "OK (1 test", "Plugin.php\n",
		"Nothing to install, update or remove", "composer.lock\n"} {
		if !strings.Contains(out, want) {
			t.Errorf("it does not say %q", want)
		}
	}
	if strings.Contains(out, "canary") || strings.Contains(out, "??") || t.Failed() {
		t.Errorf("%s", out)
	}
}

// Packages of a repository's lock file come from the addresses that the registry names, and not from those in the lock
// file. A file with another digest than the locked one ends the step, and so does a lock file for another PHP.
func TestComposerLock(t *testing.T) {
	hosttest.Long(t, "TestComposer installs from a lock file")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.Packagist] = ecosystem.At(newComposerRegistry(t))
	useRegistries(t, be, up, t.TempDir())
	lock := func(sum string) string {
		one := func(name, version, c, more string) string {
			return fmt.Sprintf(
				`{"name":%q,"version":%q,"dist":{"type":"zip","url":"https://evil.example/%s.zip","reference":%q,"shasum":%q}%s}`,
				name, version, c, strings.Repeat(c, 40), sum, more)
		}
		return `{"packages":[` + one("acme/left", "v1.2.0", "a",
			`,"require":{"acme/right":"^1"},"autoload":{"psr-4":{"Acme\\Left\\":"src/"}}`) + "," +
			one("acme/right", "1.0.0", "b", `,"autoload":{"psr-4":{"Acme\\Right\\":"src/"}}`) +
			`],"packages-dev":[` + one("phpunit/phpunit", "11.0.0", "c", `,"bin":["phpunit"]`) +
			`],"minimum-stability":"stable","platform":[],"platform-dev":[]}`
	}
	files := map[string]string{
		"composer.json": `{"require":{"acme/left":"^1.0"},"require-dev":{"phpunit/phpunit":"*"}}`, "composer.lock": lock(""),
		"tests/OwnTest.php": "<?php\nclass OwnTest extends \\PHPUnit\\Framework\\TestCase { public function testWord(): " +
			"void { $this->assertSame('hello', \\Acme\\Left\\Word::TEXT); } }\n",
	}
	img := be.mustEnsure(t, Request{Toolchains: []string{"php"}, Repo: newProject(t).commit(files)})
	out := be.runInTree(t, img, phpGate+`; git status --porcelain`)
	if len(img.Notes) > 0 || !strings.Contains(out, "of the lock file\n") || !strings.Contains(out, "OK (1 test") ||
		strings.Contains(out, "??") {
		t.Errorf("%s, notes %q", out, img.Notes)
	}
	files["composer.lock"] = lock(strings.Repeat("0", 40))
	req := Request{Toolchains: []string{"php"}, Repo: newProject(t).commit(files)}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err := be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "composer.lock cannot be installed", "digest differs")

	// An error of composer's is told in its words, and not with those on how to call it.
	files["composer.json"] = `{"require":{"acme/broken":"^1.0"}}`
	files["composer.lock"] = strings.ReplaceAll(
		strings.ReplaceAll(lock(""), "acme/left", "acme/broken"), strings.Repeat("a", 40), strings.Repeat("e", 40))
	req = Request{Toolchains: []string{"php"}, Repo: newProject(t).commit(files)}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err = be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "stripped absolute path spec")

	files["composer.json"], files["composer.lock"] = `{"require":{"php":">=9","acme/left":"^1.0"}}`,
		strings.Replace(lock(""), `"platform":[]`, `"platform":{"php":">=9"}`, 1)
	req = Request{Toolchains: []string{"php"}, Repo: newProject(t).commit(files)}
	be.dropAtEnd(t, req, newBuiltBase())
	_, err = be.Ensure(newContext(t), req)
	requireCode(t, err, company.EImage, "requires php >=9 but your php version")
	var e *company.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "the image has PHP 8.2") || !company.NeedsPerson(err) {
		t.Errorf("it says %v", err)
	}
}

// A registry that is away ends the step, with the line that goes on without
// it: Debian's PHPUnit runs what needs no package.
func TestComposerAway(t *testing.T) {
	hosttest.Long(t, "PHP is installed from Debian's archives")
	be := newTestBuilder(t)
	up := upstreams()
	up.Registries[ecosystem.Packagist] = ecosystem.At(ecosystem.Endpoint{URL: "http://127.0.0.1:1"}) // nobody is there
	useRegistries(t, be, up, t.TempDir())
	req := Request{Toolchains: []string{"php"}, Repo: newProject(t).commit(map[string]string{
		"composer.json": `{"require-dev":{"phpunit/phpunit":"^9"},"autoload":{"psr-4":{"Own\\":"src/"}}}`,
		"src/Own.php":   "<?php\nnamespace Own;\nclass Own { const ANSWER = 42; }\n",
		"composer.lock": `{"packages":[],"packages-dev":[{"name":"phpunit/phpunit","version":"9.6.0","dist":{"type":"zip","url":"https://evil.example/x.zip","reference":"a","shasum":""}}]}`,
		"tests/OwnTest.php": "<?php\nclass OwnTest extends \\PHPUnit\\Framework\\TestCase { public function testAnswer(): " +
			"void { $this->assertSame(42, \\Own\\Own::ANSWER); } }\n",
	})}
	be.dropAtEnd(t, req, newBuiltBase())
	without := req
	without.Without = []string{ecosystem.Packagist}
	img := be.mustEnsure(t, without) // has what the other one needs below its packages
	if got := strings.Join(img.Notes, "\n"); got != "composer.lock is not installed: deps.without has packagist" {
		t.Errorf("notes %q", got)
	}
	if out := be.runInTree(t, img, phpGate+`; git status --porcelain`); !strings.Contains(out, "OK (1 test") {
		t.Errorf("%s", out)
	}
	_, err := be.Ensure(newContext(t), req)
	var e *company.Error
	if !errors.As(err, &e) || !strings.Contains(e.Hint, "deps.without: [packagist]") {
		t.Fatalf("no such advice: %v", err)
	}
	if e.Class != company.HumanRequired {
		t.Error("a registry that is away is not asked about at once")
	}
}
