package image

import (
	"archive/tar"
	"bytes"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/lib/secret"
)

// Malformed requests are refused before anything happens (unpinned image).
func TestBadRequests(t *testing.T) {
	be := newTestBuilder(t)
	oid := company.OID(strings.Repeat("a", 40))
	cases := map[string]Request{
		"a tag":              {Base: "debian:12"},
		"short digest":       {Base: "debian@sha256:abc"},
		"option as a name":   {Base: "-x@sha256:" + strings.Repeat("0", 64)},
		"unknown toolchain":  {Toolchains: []string{"cobol"}},
		"twice":              {Toolchains: []string{"go", "go"}},
		"empty command":      {Setup: []string{" "}},
		"odd variable":       {Setup: []string{"true"}, SetupEnv: map[string]secret.Value{"A=B": {}}},
		"NUL in a value":     {Setup: []string{"true"}, SetupEnv: map[string]secret.Value{"A": secret.New("a\x00b")}},
		"relative mirror":    {Repo: &Repo{MirrorDir: "x", Commit: oid}},
		"no commit":          {Repo: &Repo{MirrorDir: "/x", Commit: "HEAD"}},
		"sha-256 repository": {Repo: &Repo{MirrorDir: "/x", Commit: oid + "000000000000000000000000"}},
		"ref outside":        {Repo: &Repo{MirrorDir: "/x", Commit: oid, Ref: "a/../../b"}},
		"ref as an option":   {Repo: &Repo{MirrorDir: "/x", Commit: oid, Ref: "-f"}},
		"ref with a line":    {Repo: &Repo{MirrorDir: "/x", Commit: oid, Ref: "a\nb"}},
		"ref is a lock":      {Repo: &Repo{MirrorDir: "/x", Commit: oid, Ref: "a.lock"}},
	}
	for name, req := range cases {
		if _, err := be.Ensure(newContext(t), req); company.CodeOf(err) != company.EInvalid {
			t.Errorf("%s: error %v", name, err)
		}
	}
	if len(be.progressLines) != 0 {
		t.Errorf("something happened: %q", be.progressLines)
	}
	_, err := be.Ensure(newContext(t),
		Request{Repo: &Repo{MirrorDir: newProject(t).bare, Commit: oid}, Toolchains: []string{"go"}})
	requireCode(t, err, company.EGit)
}

// Without mmdebstrap the error says what to install.
func TestNoMmdebstrap(t *testing.T) {
	be := newTestBuilder(t)
	bin := t.TempDir()
	for _, tool := range []string{"git", "go"} {
		p, err := exec.LookPath(tool)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(p, filepath.Join(bin, tool)); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	err := be.buildRootfs(newContext(t), be.baseStep(newBuiltBase()), debianPackages, t.TempDir(),
		filepath.Join(t.TempDir(), "x.tar"))
	requireCode(t, err, company.EImage, "mmdebstrap is not installed")
}

// A daemon that goes on after an error in its stream is not believed.
func TestReadProgress(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "",
		`{"stream":"ok"}` + "\n":            "",
		`{"stream":"x"}{"error":"full"}`:    "full",
		`{"errorDetail":{"message":"bad"}}`: "bad",
		`{"stream":`:                        "unexpected EOF",
	} {
		err := readProgress(strings.NewReader(text))
		if (err == nil) != (want == "") || err != nil && err.Error() != want {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// No two lists of inputs share a key.
func TestHashKey(t *testing.T) {
	lists := [][]string{{}, {""}, {"a", "b"}, {"ab"}, {"a", "b", ""}, {"a\n1:b"}, {"b", "a"}}
	seen := map[company.Hash]int{}
	for i, l := range lists {
		k := hashKey(l...)
		if j, ok := seen[k]; ok {
			t.Errorf("%q and %q have one key", lists[i], lists[j])
		}
		seen[k] = i
	}
}

// FuzzFilterRootfs feeds it what is no sane root file system: it must end with
// an error or with a tar that has none of what is left out.
func FuzzFilterRootfs(f *testing.F) {
	var good bytes.Buffer
	tw := tar.NewWriter(&good)
	for _, h := range []tar.Header{
		{Typeflag: tar.TypeReg, Name: "./bin/sh", Mode: 0o4755}, {Typeflag: tar.TypeReg, Name: "usr/bin/git", Mode: 0o755},
		{Typeflag: tar.TypeReg, Name: "../../etc/resolv.conf"}, {Typeflag: tar.TypeChar, Name: "x", Devmajor: 1},
		{Typeflag: tar.TypeDir, Name: "dev/"},
		{Typeflag: tar.TypeReg, Name: "ping", PAXRecords: map[string]string{"SCHILY.xattr.security.capability": "x"}},
	} {
		if err := tw.WriteHeader(&h); err != nil {
			f.Fatal(err)
		}
	}
	if err := tw.Close(); err != nil {
		f.Fatal(err)
	}
	f.Add(good.Bytes())
	f.Add([]byte("not a tar"))
	f.Fuzz(func(t *testing.T, data []byte) {
		var out bytes.Buffer
		if err := filterRootfs(bytes.NewReader(data), &out, "sh", "git"); err != nil {
			return
		}
		agent := false
		for tr := tar.NewReader(&out); ; {
			h, err := tr.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			if h.Mode&0o6000 != 0 || h.Typeflag == tar.TypeChar || len(h.PAXRecords["SCHILY.xattr.security.capability"]) > 0 {
				t.Errorf("kept %+v", h)
			}
			if strings.HasSuffix(h.Name, "etc/resolv.conf") && isExcluded(strings.TrimPrefix(filepath.Clean("/"+h.Name), "/")) {
				t.Errorf("kept %s", h.Name)
			}
			agent = agent || h.Name == "etc/passwd"
		}
		if !agent {
			t.Error("no agent")
		}
	})
}

func TestWithAgentLine(t *testing.T) {
	got := string(
		withAgentLine([]byte("root:x:0:0::/root:/bin/sh\nnonroot:x:65532:65532::/:/x\nagent:x:7:7::/:/x"), "agent:x:65532:"))
	if want := "root:x:0:0::/root:/bin/sh\nagent:x:65532:\n"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
