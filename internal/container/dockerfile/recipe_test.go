package dockerfile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
)

// someFiles are the files of a commit.
var someFiles = []File{
	{"Makefile", "100644", "m1"}, {"a.txt", "100644", "a1"}, {"package.json", "100644", "p1"},
	{"package-lock.json", "100644", "p2"},
	{"scripts/run.sh", "100755", "s1"}, {"scripts/deep/x", "100644", "s2"}, {"docs/notes.md", "100644", "d1"},
	{"link", "120000", "l1"},
}

// translateText translates one Dockerfile of a repository with someFiles.
func translateText(t *testing.T, text string, more map[string]string) (Recipe, error) {
	t.Helper()
	s, err := readTexts(text, more)
	if err != nil {
		return Recipe{}, err
	}
	return s.Translate(Base{Env: []string{"PATH=/usr/bin:/bin"}}, someFiles, []byte(more[".dockerignore"]))
}

// readTexts reads a Dockerfile, or the devcontainer.json among more.
func readTexts(text string, more map[string]string) (Source, error) {
	name := "Dockerfile"
	if _, ok := more[".devcontainer/devcontainer.json"]; ok {
		name = ".devcontainer/devcontainer.json"
	}
	return ReadSource(name, func(file string) ([]byte, error) {
		if file == "Dockerfile" {
			return []byte(text), nil
		}
		if other, ok := more[file]; ok {
			return []byte(other), nil
		}
		return nil, nil
	})
}

// describeSteps says what the steps of a recipe do, a line each.
func describeSteps(r Recipe) string {
	var b strings.Builder
	for _, s := range r.Steps {
		var env []string
		for _, v := range s.Env {
			if v.Name != "PATH" {
				env = append(env, v.Name+"="+v.Value)
			}
		}
		fmt.Fprintf(&b, "%d %s@%s %v ", s.Line, s.User, s.Dir, env)
		switch {
		case s.Run != nil:
			fmt.Fprintf(&b, "run %q %q\n", s.Run.Argv, s.Run.Script)
		case s.Copy != nil:
			fmt.Fprintf(&b, "copy to %s folder=%v owner=%q mode=%q:", s.Copy.To, s.Copy.Folder, s.Copy.Owner, s.Copy.Mode)
			for _, f := range s.Copy.Files {
				fmt.Fprintf(&b, " %s=%s%s", f.Place, f.ID, f.Text)
			}
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "folder %s\n", s.Folder)
		}
	}
	return b.String()
}

func TestStepsOfADockerfile(t *testing.T) {
	for _, c := range []struct{ name, text, steps string }{
		{"shell and exec form", "FROM a:1\nRUN echo hi && \\\n  echo there\nRUN [\"/bin/true\", \"x y\"]\n",
			`2 @/ [] run ["/bin/sh" "-c" "echo hi &&   echo there"] ""` + "\n" + `4 @/ [] run ["/bin/true" "x y"] ""`},
		{"a shell", "FROM a:1\nSHELL [\"/bin/bash\", \"-o\", \"pipefail\", \"-c\"]\nRUN a | b\n",
			`3 @/ [] run ["/bin/bash" "-o" "pipefail" "-c" "a | b"] ""`},
		{"variables", "ARG V=1\nFROM a:$V\nARG V\nARG W=w${V}\nENV X=\"$W y\" PATH=/opt:$PATH\nENV V2=$V\nRUN true\n",
			`7 @/ [V=1 V2=1 W=w1 X=w1 y] run ["/bin/sh" "-c" "true"] ""`},
		{"ENV above ARG", "FROM a:1\nENV A=env\nARG A=arg\nRUN true\n", `4 @/ [A=env] run ["/bin/sh" "-c" "true"] ""`},
		{"user and folder", "FROM a:1\nUSER node:staff\nWORKDIR /app\nWORKDIR sub\nRUN true\n",
			"3 node:staff@/app [] folder /app\n4 node:staff@/app/sub [] folder /app/sub\n" +
				`5 node:staff@/app/sub [] run ["/bin/sh" "-c" "true"] ""`},
		{"a here-document", "FROM a:1\nRUN <<EOF\necho one\necho two\nEOF\n",
			`2 @/ [] run ["/bin/sh" "-c" "echo one\necho two\n"] ""`},
		{"a program in a here-document", "FROM a:1\nRUN <<EOF\n#!/usr/bin/perl\nprint 1\nEOF\n",
			`2 @/ [] run ["\x00script"] "#!/usr/bin/perl\nprint 1\n"`},
		{"a here-document for a program", "FROM a:1\nRUN cat >/x <<EOF && true\ntext\nEOF\n",
			`2 @/ [] run ["/bin/sh" "-c" "cat >/x <<EOF && true\ntext\nEOF"] ""`},
		{"mounts that only make it faster",
			"FROM a:1\nRUN --mount=type=cache,target=/var/cache/apt --mount=type=tmpfs,target=/t --network=none true\n",
			`2 @/ [] run ["/bin/sh" "-c" "true"] ""`},
		{"a file", "FROM a:1\nWORKDIR /w\nCOPY a.txt b.txt\n",
			"2 @/w [] folder /w\n3 @/w [] copy to /w/b.txt folder=false owner=\"\" mode=\"\": a.txt=a1"},
		{"a file into a folder", "FROM a:1\nADD --chown=node:node --chmod=755 a.txt /opt/\n",
			`2 @/ [] copy to /opt folder=true owner="node:node" mode="755": a.txt=a1`},
		{"a pattern", "FROM a:1\nCOPY package*.json ./\n",
			`2 @/ [] copy to / folder=true owner="" mode="": package-lock.json=p2 package.json=p1`},
		{"a folder", "FROM a:1\nCOPY scripts /opt/s\n",
			`2 @/ [] copy to /opt/s folder=true owner="" mode="": deep/x=s2 run.sh=s1`},
		{"a folder's pattern", "FROM a:1\nCOPY scr*/run.sh /opt/s\n",
			`2 @/ [] copy to /opt/s folder=false owner="" mode="": run.sh=s1`},
		{"a text", "FROM a:1\nENV A=b\nCOPY <<one <<\"two\" /etc/\n$A\none\n$A\ntwo\n",
			"3 @/ [A=b] copy to /etc folder=true owner=\"\" mode=\"\": one=b\n two=$A\n"},
		{"stages", "FROM a:1 AS base\nENV A=1\nARG G=2\nFROM b:2 AS other\nRUN other\nFROM base\nRUN true\n",
			`7 @/ [A=1] run ["/bin/sh" "-c" "true"] ""`},
		{"Docker's own syntax", "# syntax=docker/dockerfile:1.7\n# escape=`\nFROM a:1\nRUN a `\n b\n",
			"4 @/ [] run [\"/bin/sh\" \"-c\" \"a  b\"] \"\""},
		{"a platform", "FROM --platform=$TARGETPLATFORM a:1\nARG TARGETARCH\nRUN true\n",
			`3 @/ [TARGETARCH=` + runtime.GOARCH + `] run ["/bin/sh" "-c" "true"] ""`},
		{"what describes a start",
			"FROM a:1\nCMD x\nENTRYPOINT y\nEXPOSE 1\nLABEL a=b\nHEALTHCHECK NONE\nSTOPSIGNAL 9\nVOLUME /x\nONBUILD RUN " +
				"x\nMAINTAINER me\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := translateText(t, c.text, nil)
			if err != nil {
				t.Fatal(err)
			}
			if got := strings.TrimSpace(describeSteps(r)); got != strings.TrimSpace(c.steps) {
				t.Errorf("the steps are\n%s\nwant\n%s", got, c.steps)
			}
		})
	}
}

// What asks for more than the policy of build containers is refused on its line, with a
// remedy, and no second try is made.
func TestInstructionsBeyondThePolicy(t *testing.T) {
	for _, c := range []struct {
		text string
		line int
		says string
	}{
		{"FROM a:1\nRUN --security=insecure mount\n", 2, "--security=insecure is not supported"},
		{"FROM a:1\nRUN --network=host curl x\n", 2, "--network=host is not supported"},
		{"FROM a:1\n\nRUN --mount=type=secret,id=x true\n", 3, "--mount=type=secret is not supported"},
		{"FROM a:1\nRUN --mount=type=ssh true\n", 2, "--mount=type=ssh is not supported"},
		{"FROM a:1\nRUN --mount=type=bind,target=/x true\n", 2, "--mount=type=bind is not supported"},
		{"FROM a:1\nRUN --device=nvidia.com/gpu=all true\n", 2, "--device=nvidia.com/gpu=all is not supported"},
		{"FROM a:1\nADD https://example.com/x /x\n", 2, "ADD of a URL"},
		{"FROM a:1\nADD git@github.com:a/b.git /x\n", 2, "ADD of a URL"},
		{"FROM a:1\nADD x.tar.gz /x\n", 2, "ADD cannot unpack"},
		{"FROM b:1 AS b\nFROM a:1\nCOPY --from=b /x /x\n", 3, "COPY --from=b"},
		{"FROM a:1\nCOPY missing /x\n", 2, "has no file missing"},
		{"FROM a:1\nCOPY ../../etc/passwd /x\n", 2, "has no file"},
		{"FROM a:1\nCOPY --chown=$(id) a.txt /x\n", 2, ""},
		{"FROM a:1\nCOPY <<../../x /y/\ntext\n../../x\n", 2, "invalid file name"},
		{"# syntax=example.com/own:1\nFROM a:1\n", 1, "is not supported"},
		{"FROM scratch\n", 1, "FROM scratch is not supported"},
		{"FROM $NOTHING\n", 1, "invalid image name"},
		{"FROM Up:1\n", 1, "invalid image name"},
		{"FROM --platform=windows/amd64 a:1\n", 1, "does not match this machine"},
		{"FROM a:1\nUSER -x\n", 2, "USER has no user"},
		{"FROM a:1\nRUNN x\n", 2, "unknown instruction: RUNN"},
		{"FROM a:1\nENV X\n", 2, "cannot parse the Dockerfile"},
		{"RUN x\n", 1, "cannot parse the Dockerfile"},
		{"", 1, "cannot parse the Dockerfile"},
	} {
		_, err := translateText(t, c.text, nil)
		requireRefusal(t, c.text, err, "Dockerfile", c.line, c.says)
	}
}

func requireRefusal(t *testing.T, text string, err error, file string, line int, says string) {
	t.Helper()
	var e *company.Error
	if !errors.As(err, &e) || e.Code != company.EImage || !company.NeedsPerson(e) || e.Hint == "" {
		t.Errorf("%q: %v, want an error for a person with a remedy", text, err)
		return
	}
	if !strings.Contains(e.Message, fmt.Sprintf("%s:%d: ", file, line)) || !strings.Contains(e.Error(), says) {
		t.Errorf("%q: %v, want line %d and %q", text, e, line, says)
	}
}

func TestEnvironmentOfWorkers(t *testing.T) {
	r, err := translateText(
		t, "FROM a:1\nENV A=1 HOME=/root TOOLBOX_X=1 PATH=/opt:$PATH\nENV A=2 JAVA=\"-a -b\"\nARG B=3\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Variable{{"A", "2"}, {"PATH", "/opt:/usr/bin:/bin"}, {"JAVA", "-a -b"}}
	if !slices.Equal(r.Env, want) || !strings.Contains(strings.Join(r.Notes, "\n"), "HOME, TOOLBOX_X of Dockerfile") {
		t.Errorf("environment %q, notes %q", r.Env, r.Notes)
	}
}

func TestNotesOfADockerfile(t *testing.T) {
	r, err := translateText(t, "FROM a:1\nCMD x\nEXPOSE 80\nEXPOSE 81\nWORKDIR /work/x\nCOPY . /app\n", nil)
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, w := range []string{"CMD, EXPOSE of Dockerfile", "Dockerfile:5: WORKDIR is in /work",
		"Dockerfile:6: the whole repository is copied"} {
		if !strings.Contains(notes, w) {
			t.Errorf("notes %q do not say %q", notes, w)
		}
	}
}

func TestIgnoredFilesAreNotCopied(t *testing.T) {
	ignore := map[string]string{".dockerignore": "# comment\n\nscripts/*\n!scripts/run.sh\n**/*.md\npackage*\nlink\n"}
	r, err := translateText(t, "FROM a:1\nCOPY . /x\n", ignore)
	if err != nil {
		t.Fatal(err)
	}
	if got := describeSteps(r); !strings.HasSuffix(got, ": Makefile=m1 a.txt=a1 scripts/run.sh=s1\n") {
		t.Errorf("copied: %s", got)
	}
	_, err = translateText(t, "FROM a:1\nCOPY package.json /x\n", ignore)
	if err == nil || !strings.Contains(err.Error(), ".dockerignore") {
		t.Errorf("error %v", err)
	}
}

// Patterns that cannot be read, and those that a repository has made to be compared with its
// files for ever, are refused.
func TestHostilePatternsOfCopies(t *testing.T) {
	for _, ignore := range []string{"a\n[b\n", strings.Repeat("a", 1025), strings.Repeat("a\n", 10_001)} {
		_, err := translateText(t, "FROM a:1\nCOPY . /x\n", map[string]string{".dockerignore": ignore})
		if company.CodeOf(err) != company.EImage || !strings.Contains(err.Error(), "cannot read line") {
			t.Errorf("%.10q: %v", ignore, err)
		}
	}
	files := make([]File, 100)
	for i := range files {
		files[i] = File{Path: fmt.Sprintf("%s%d", strings.Repeat("a", 900), i)}
	}
	ignore := []byte(strings.Repeat("**/"+strings.Repeat("*a", 400)+"b\n", 100))
	budget := 1 << 20
	if _, err := selectFiles(files, "", ignore, &budget); company.CodeOf(err) != company.EImage ||
		!strings.Contains(err.Error(), "too complex") {
		t.Errorf("error %v", err)
	}
	budget = 1 << 30
	if got, err := selectFiles(files, "", ignore, &budget); err != nil || len(got.files) != 100 {
		t.Errorf("%d files, error %v", len(got.files), err)
	}
	// As Docker reads it: below a folder is not the folder's own name, and braces are characters.
	if got, err := selectFiles([]File{{Path: "a"}, {Path: "b/c"}, {Path: "{b}"}}, "", []byte("*/**\n{a,b}\n"),
		&budget); err != nil || len(got.files) != 2 {
		t.Errorf("%v, error %v", got.files, err)
	}
}

func TestDevcontainers(t *testing.T) {
	const at = ".devcontainer/devcontainer.json"
	dev := func(text string) map[string]string { return map[string]string{at: text} }
	r, err := translateText(t, "",
		dev("{ // an image\n  \"image\": \"mcr.example/base:1\", /* more */\n  \"features\": {\"ghcr.io/x/node:1\": {},},\n"+
			"  \"containerEnv\": {\"A\": \"${containerEnv:PATH}:/x\", \"B\": \"${localEnv:TOKEN}\"},\n  "+
			"\"postCreateCommand\": \"npm ci\", \"runArgs\": [], \"privileged\": false,\n}\n"))
	if err != nil {
		t.Fatal(err)
	}
	notes := strings.Join(r.Notes, "\n")
	for _, w := range []string{"ghcr.io/x/node:1", "postCreateCommand", "containerEnv.B is left out"} {
		if !strings.Contains(notes, w) {
			t.Errorf("notes %q do not say %q", notes, w)
		}
	}
	if r.From != "mcr.example/base:1" || r.Line != 2 || !slices.Equal(r.Env, []Variable{{"A", "/usr/bin:/bin:/x"}}) {
		t.Errorf("recipe %+v", r)
	}

	more := dev(`{"build": {"dockerfile": "Dockerfile", "context": "..", "args": {"V": "7"}, "target": "dev"}}`)
	more[".devcontainer/Dockerfile"] = "ARG V=1\nFROM a:$V AS dev\nARG V\nCOPY a.txt /x\nRUN true\nFROM b:1\nCOPY " +
		"--from=dev /x /x\n"
	r, err = translateText(t, "", more)
	if err != nil {
		t.Fatal(err)
	}
	if got := describeSteps(r); r.From != "a:7" || !strings.Contains(got, "a.txt=a1") || !strings.Contains(got, "[V=7]") {
		t.Errorf("from %s: %s", r.From, got)
	}

	// The context is a folder: paths are below it.
	more = dev(`{"dockerFile": "../Dockerfile", "context": "../scripts"}`)
	r, err = translateText(t, "FROM a:1\nCOPY run.sh /x\n", more)
	if err != nil || !strings.Contains(describeSteps(r), "run.sh=s1") {
		t.Errorf("recipe %+v, error %v", r, err)
	}

	for text, says := range map[string]string{
		"{\n\"image\": \"a:1\",\n\"privileged\": true}":                      ":3: privileged",
		"{\n\"image\": \"a:1\",\n\"runArgs\": [\"--privileged\"]}":           ":3: runArgs",
		"{\n\"image\": \"a:1\",\n\"capAdd\": [\"SYS_PTRACE\"]}":              ":3: capAdd",
		"{\n\"image\": \"a:1\",\n\"securityOpt\": [\"seccomp=unconfined\"]}": ":3: securityOpt",
		"{\n\"image\": \"a:1\",\n\"mounts\": [\"source=/,target=/h\"]}":      ":3: mounts",
		"{\n\"image\": \"a:1\",\n\"initializeCommand\": \"id\"}":             ":3: initializeCommand",
		"{\n\"dockerComposeFile\": \"c.yml\"}":                               ":2: dockerComposeFile",
		"{\n\"build\": {\"dockerfile\": \"x\", \"options\": [\"--y\"]}}":     ":2: build.options",
		"{\n\"build\": {\"dockerfile\": \"../../x\"}}":                       ":2: the build uses paths outside of the repository",
		"{\n\"build\": {\"dockerfile\": 7}}":                                 ":2: invalid build",
		"{\"name\": \"x\"}":                                                  ":1: no image is given",
		"{\n\"image\": \"${localEnv:X}\"}":                                   ":2: ",
		"{\n\n\"image\": }":                                                  ":3: this is not JSON",
		"[]":                                                                 ":1: this is not JSON",
	} {
		_, err := translateText(t, "", dev(text))
		requireRefusal(t, text, err, strings.Split(at+says, ":")[0], int(says[1]-'0'), strings.TrimSpace(says[3:]))
	}
}

func TestSourcesThatCannotBeRead(t *testing.T) {
	read := func(data []byte) func(string) ([]byte, error) {
		return func(string) ([]byte, error) { return data, nil }
	}
	for says, data := range map[string][]byte{"has no file": nil, "is over": make([]byte, maxText+1),
		"is not text": []byte("FROM \xff"), "not text": {0}} {
		if _, err := ReadSource("Dockerfile", read(data)); err == nil || !strings.Contains(err.Error(), says) ||
			!company.NeedsPerson(err) {
			t.Errorf("error %v, want %q", err, says)
		}
	}
	if _, err := ReadSource("x", func(string) ([]byte, error) { return nil, os.ErrPermission }); !errors.Is(
		err, os.ErrPermission) {
		t.Errorf("error %v", err)
	}
}

// The hash is of every text that describes the image.
func TestHashCoversEachText(t *testing.T) {
	hash := func(dev, text string) company.Hash {
		s, err := readTexts(text, map[string]string{".devcontainer/devcontainer.json": dev})
		if err != nil {
			t.Fatal(err)
		}
		return s.HashTexts()
	}
	one := hash(`{"dockerFile": "../Dockerfile"}`, "FROM a:1\n")
	if one != hash(`{"dockerFile": "../Dockerfile"}`, "FROM a:1\n") ||
		one == hash(`{"dockerFile": "../Dockerfile" }`, "FROM a:1\n") ||
		one == hash(`{"dockerFile": "../Dockerfile"}`, "FROM a:2\n") {
		t.Error("the hash is not of both texts")
	}
}

func FuzzTranslate(f *testing.F) {
	f.Add("FROM a:1\nRUN <<E\nx\nE\nCOPY a.txt scripts /x/\nENV A=${B:-c}\n", "{\"image\": \"a:1\"} // x")
	f.Add("# escape=`\nFROM a AS b\nARG X=1\nFROM b\nADD x y\n", `{"build": {"dockerfile": "../Dockerfile",},}`)
	f.Fuzz(func(t *testing.T, text, dev string) {
		for _, more := range []map[string]string{nil, {".devcontainer/devcontainer.json": dev}} {
			s, err := readTexts(text, more)
			if err == nil {
				_, err = s.Translate(Base{}, someFiles, []byte(dev))
			}
			if company.CodeOf(err) == company.EInternal || err != nil && company.CodeOf(err) == "" {
				t.Fatal(err)
			}
		}
	})
}
