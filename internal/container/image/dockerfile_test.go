package image

import (
	"archive/tar"
	"context"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/hosttest"

	"github.com/docker/docker/api/types/image"
)

// importPlain puts Debian's base of the product under a tag, without the labels of our
// images, and gives the tag.
func (be *testBuilder) importPlain(t *testing.T, changes ...string) string {
	t.Helper()
	ctx := newContext(t)
	under := be.mustEnsure(t, Request{})
	tarball := filepath.Join(t.TempDir(), "plain.tar")
	err := be.withStillContainer(ctx, layerStep{kind: "plain", key: hashKey(t.Name())}, under.ID, func(name string) error {
		body, err := be.docker.ContainerExport(ctx, name)
		if err != nil {
			return err
		}
		defer body.Close()
		f, err := os.Create(tarball)
		if err != nil {
			return err
		}
		defer f.Close()
		_, err = io.Copy(f, body)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	f, err := os.Open(tarball)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	tag := "company-test/" + strings.ToLower(t.Name()) + ":1"
	out, err := be.unguarded.ImageImport(
		ctx, image.ImportSource{Source: f, SourceName: "-"}, tag, image.ImportOptions{Changes: changes})
	if err == nil {
		defer out.Close()
		err = readProgress(out)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if _, err := be.unguarded.ImageRemove(context.Background(), tag, imageRemove); err != nil {
			t.Error(err)
		}
	})
	return tag
}

// describedRequest is the request for the image that a commit describes.
func describedRequest(t *testing.T, repo *Repo, file string) Request {
	t.Helper()
	s, err := ReadDockerfile(t.Context(), repo.MirrorDir, repo.Commit, file)
	if err != nil {
		t.Fatal(err)
	}
	return Request{Repo: repo, Dockerfile: &s}
}

// dropDescribed removes at the end what a described image is made of, where it can be
// made.
func (be *testBuilder) dropDescribed(t *testing.T, req Request) {
	t.Helper()
	base, err := be.findBase(t.Context(), req)
	if err == nil && be.resolveFrom(t.Context(), &base) == nil {
		be.dropAtEnd(t, req, base)
	}
}

// A repository describes its image: what its Dockerfile sets, copies and installs is in
// a worker's container, under a worker's policy.
func TestImageOfADockerfile(t *testing.T) {
	t.Parallel()
	be := newTestBuilder(t)
	tag := be.importPlain(t, "ENV THEIR=kept", "WORKDIR /srv", "USER games")
	repo := newProject(t).commit(map[string]string{
		"scripts/hello.sh": "#!/bin/sh\necho hello $1\n", "notes.txt": "notes\n", "secret.txt": "left out\n",
		".dockerignore": "secret.txt\n",
		"Dockerfile": "ARG FROM=" + tag +
			"\nFROM $FROM\nARG WORD=\"two words\"\nENV SAYS=\"$WORD\" PATH=/opt/app:$PATH\nRUN [ \"$(id -un) $(pwd)\" = " +
			"'games /srv' ]\n" +
			"USER root\nCOPY --chmod=755 scripts /opt/app/\nRUN mv /opt/app/hello.sh /opt/app/hello\n" +
			"WORKDIR data\nRUN chown daemon .\nUSER daemon:daemon\nCOPY --chown=daemon . ./\nRUN <<EOF\nset -e\ntouch " +
			"of-daemon\necho \"$HOME $SAYS it's\" >said\nEOF\n" +
			"CMD [\"x\"]\n",
	})
	req := describedRequest(t, repo, "Dockerfile")
	be.dropDescribed(t, req)
	img, err := be.Ensure(newContext(t), req)
	if err != nil {
		t.Log(company.DetailsOf(err))
		t.Fatal(err)
	}
	out := be.mustRun(
		t, img, `id -u; hello you; echo $THEIR $SAYS; cat /srv/data/said; ls -A /srv/data; stat -c %U /srv/data/of-daemon /srv/data/notes.txt /opt/app/hello
test ! -e /opt/company && test ! -e /etc/apt/sources.list.d/company.list && ! touch /opt/app/x 2>/dev/null && git --git-dir=/opt/repo.git log --oneline | wc -l`)
	want := "65532\nhello you\nkept two words\n/usr/sbin two words " +
		"it's\n.dockerignore\nDockerfile\nnotes.txt\nof-daemon\nsaid\nscripts\ndaemon\ndaemon\nroot\n1\n"
	if out != want {
		t.Errorf("a container of it says\n%s\nwant\n%s", out, want)
	}
	if notes := strings.Join(img.Notes, "\n"); !strings.Contains(notes, "CMD of Dockerfile") {
		t.Errorf("notes %q", notes)
	}
	info, err := be.unguarded.ImageInspect(newContext(t), img.ID)
	if err != nil || info.Config.User != "65532:65532" || info.Config.WorkingDir != "/work" ||
		len(info.Config.Entrypoint) > 0 {
		t.Errorf("config %+v, error %v", info.Config, err)
	}
	x, err := be.Explain(newContext(t), req)
	if err != nil || x.Image != img.ID || x.Layers[1].Kind != "dockerfile" ||
		!strings.Contains(x.Layers[0].Why, tag+", which Dockerfile:2 starts from") {
		t.Errorf("explained as %+v, error %v", x, err)
	}
	be.checkFailures(t, tag)
	t.Run("apt", func(t *testing.T) {
		hosttest.Long(t, "packages of Debian")
		withArchives(t, be)
		req := describedRequest(t, newProject(t).commit(map[string]string{
			"Dockerfile": "FROM " + tag + "\nUSER root\nRUN apt-get update && apt-get install -y --no-install-recommends tini\n",
		}), "Dockerfile")
		be.dropDescribed(t, req)
		img, err := be.Ensure(newContext(t), req)
		if err != nil {
			t.Fatal(err, company.DetailsOf(err))
		}
		be.mustRun(t, img, "which tini")
	})
	t.Run("devcontainer", func(t *testing.T) {
		hosttest.Long(t, "a file that names a Dockerfile or an image")
		be.checkDevcontainer(t, tag)
	})
}

// checkDevcontainer has an image made that a devcontainer.json names, with its variables.
func (be *testBuilder) checkDevcontainer(t *testing.T, tag string) {
	t.Helper()
	repo := newProject(t).commit(
		map[string]string{".devcontainer/devcontainer.json": "{\n  // the image\n  \"image\": \"" + tag + "\",\n" +
			"  \"features\": {\"ghcr.io/x/y:1\": {}},\n  \"containerEnv\": {\"GREETING\": \"hello, " +
			"${containerEnv:THEIR}\"},\n}\n"})
	req := describedRequest(t, repo, ".devcontainer/devcontainer.json")
	be.dropDescribed(t, req)
	img, err := be.Ensure(newContext(t), req)
	if err != nil {
		t.Fatal(err)
	}
	if out := be.mustRun(t, img, `echo "$GREETING"; id -u`); out != "hello, kept\n65532\n" ||
		!strings.Contains(strings.Join(img.Notes, "\n"), "ghcr.io/x/y:1") {
		t.Errorf("a container of it says %q, notes %q", out, img.Notes)
	}
}

// checkFailures tries texts that cannot be carried out: each is one screen, with its line,
// the end of its output, and one remedy.
func (be *testBuilder) checkFailures(t *testing.T, tag string) {
	t.Helper()
	p := newProject(t)
	for _, c := range []struct{ name, file, text, says, fix string }{
		{"a step that wants the network", "Dockerfile",
			"FROM " + tag + "\nRUN true\nRUN git clone https://example.com/x /tmp/x\n",
			"Dockerfile:3: a step of the worker image failed", "only reach Debian's packages, by apt"},
		{"no git at the end", "Dockerfile", "FROM " + tag + "\nUSER root\nRUN rm /usr/bin/git\n", "has no git",
			"apt-get install -y --no-install-recommends git"},
		{"an unknown user", "Dockerfile", "FROM " + tag + "\nUSER nobody-here\nRUN true\n",
			"the image has no user nobody-here", "fix the step"},
		{"more rights", "Dockerfile", "FROM " + tag + "\nRUN --security=insecure mount -t proc x /x\n",
			"Dockerfile:2: RUN --security=insecure is not supported", "remove it"},
		{"an image of the company", "Dockerfile", "FROM " + be.mustEnsure(t, Request{}).Tag + "\n",
			"is an image of the company", "start from another image"},
		{"a tag that is not there", ".devcontainer.json", `{"image": "` + tag + `0"}`, "is not on this machine",
			"docker pull " + tag + "0"},
		{"a privileged devcontainer", ".devcontainer.json", "{\n// more\n\"image\": \"" + tag + "\", \"privileged\": true}",
			".devcontainer.json:3: privileged is not supported", "remove it"},
	} {
		whole := t // the image that all start from is kept between them
		t.Run(c.name, func(t *testing.T) {
			repo := p.commit(map[string]string{c.file: c.text})
			s, err := ReadDockerfile(t.Context(), repo.MirrorDir, repo.Commit, c.file)
			if err == nil {
				req := Request{Repo: repo, Dockerfile: &s}
				be.dropDescribed(whole, req)
				_, err = be.Ensure(newContext(t), req)
			}
			requireCode(t, err, company.EImage, c.says)
			var e *company.Error
			if errors.As(err, &e); e == nil || !company.NeedsPerson(e) || !strings.Contains(e.Hint, c.fix) ||
				strings.Count(e.Error(), "\n") > 15 {
				t.Errorf("%v (%+v): want one screen for a person with %q", err, e, c.fix)
			}
			t.Log(err)
		})
	}
}

// What a Dockerfile copies, and nothing else of the commit, is in the key of its layer.
func TestKeyOfADockerfile(t *testing.T) {
	b, err := New(
		Config{CacheDir: t.TempDir(), Toolbox: func(string) ([]byte, error) { return []byte("the toolbox"), nil }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(b.Close)
	p := newProject(t)
	key := func(files map[string]string) company.Hash {
		t.Helper()
		req := describedRequest(t, p.commit(files), ".devcontainer/devcontainer.json")
		base, err := b.findBase(t.Context(), req)
		if err != nil {
			t.Fatal(err)
		}
		steps, notes, err := b.planLayers(t.Context(), req, base)
		if err != nil || !slices.ContainsFunc(
			notes, func(n string) bool { return strings.Contains(n, "postCreateCommand") }) {
			t.Fatal(notes, err)
		}
		return steps[1].key
	}
	dev := `{"build": {"dockerfile": "Dockerfile", "context": ".."}, "postCreateCommand": "x"}`
	one := key(
		map[string]string{".devcontainer/devcontainer.json": dev, ".devcontainer/Dockerfile": "FROM a:1\nCOPY go.mod ./\n",
			"go.mod": "module x\n", "other": "1"})
	if two := key(map[string]string{"other": "2"}); two != one {
		t.Error("a file that is not copied changes the key")
	}
	if two := key(map[string]string{"go.mod": "module y\n"}); two == one {
		t.Error("a file that is copied does not change the key")
	}
	if two := key(
		map[string]string{"go.mod": "module x\n", ".devcontainer/Dockerfile": "FROM a:2\nCOPY go.mod ./\n"}); two == one {
		t.Error("the image to start from does not change the key")
	}
}

// Files of the commit come into the container of the steps, each where its step looks.
func TestCopiedFiles(t *testing.T) {
	repo := newProject(t).commit(
		map[string]string{"a": "one\n", "b/c": "two",
			"Dockerfile": "FROM a:1\nCOPY a /x/\nCOPY b /x/\nCOPY <<a /x/\nthree\na\n"})
	base, err := (&Builder{}).describeBase(t.Context(), describedRequest(t, repo, "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	l, err := newLayer(filepath.Join(t.TempDir(), "x.tar"))
	if err != nil {
		t.Fatal(err)
	}
	defer l.removeFile()
	if err := errors.Join(stageRecipe(t.Context(), *repo, base.described.plan, l), l.close()); err != nil {
		t.Fatal(err)
	}
	got := readTarTexts(t, l.newReader())
	for name, text := range map[string]string{"0/files/a": "one\n", "1/files/c": "two", "2/files/a": "three\n"} {
		if got["opt/company/recipe/"+name] != text {
			t.Errorf("%s is %q, want %q", name, got["opt/company/recipe/"+name], text)
		}
	}
}

// readTarTexts gives the files of a tar with their texts.
func readTarTexts(t *testing.T, r io.Reader) map[string]string {
	t.Helper()
	out := map[string]string{}
	for tr := tar.NewReader(r); ; {
		h, err := tr.Next()
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(tr)
		if err != nil {
			t.Fatal(err)
		}
		out[h.Name] = string(text)
	}
}
