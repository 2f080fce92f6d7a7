package gitops_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/gitops"
	"company/internal/gitops/gitopstest"
)

// The attributes of the new state and of the base count, wherever a .gitattributes gives them. What is unchanged,
// deleted, sealed or a pointer bypasses nothing.
func TestFindBypassed(t *testing.T) {
	t.Parallel()
	pointer := "version https://git-lfs.github.com/spec/v1\noid sha256:" + strings.Repeat("0a", 32) + "\nsize 12\n"
	const sealed = "\x00GITCRYPT\x00\x01\x02"
	base := map[string]string{
		".gitattributes": "[attr]hidden filter=git-crypt diff=git-crypt\nsecrets/** hidden\n.gitattributes !filter !diff\n" +
			"*.bin filter=lfs -text\n",
		"sub/.gitattributes": "*.enc filter=company-x\n",
		"secrets/a.key":      sealed + "a", "secrets/b.key": sealed + "b", "secrets/plain.key": "old mistake\n",
		"big.bin": pointer, "sub/c.enc": "sealed by something\n", "vault.yml": "$ANSIBLE_VAULT;1.1;AES256\n33\n",
		"moved.txt": "moved\n",
	}
	for name, c := range map[string]struct {
		change map[string]string // an empty text removes a file
		want   string
	}{
		"nothing of these":       {map[string]string{"a.txt": "x\n", "other.md": "y\n"}, ""},
		"a new sealed file":      {map[string]string{"secrets/new/c.key": "k\n"}, "secrets/new/c.key filter=git-crypt"},
		"a replaced sealed file": {map[string]string{"secrets/a.key": "k\n"}, "secrets/a.key filter=git-crypt"},
		"the old mistake again":  {map[string]string{"secrets/plain.key": "n\n"}, "secrets/plain.key filter=git-crypt"},
		"a removed sealed file":  {map[string]string{"secrets/a.key": ""}, ""},
		"a copied sealed file":   {map[string]string{"secrets/c.key": sealed + "a"}, ""},
		"a known content moves": {map[string]string{"secrets/moved.txt": "moved\n", "moved.txt": ""},
			"secrets/moved.txt filter=git-crypt"},
		"a replaced pointer":   {map[string]string{"big.bin": "big\n"}, "big.bin filter=lfs"},
		"another pointer":      {map[string]string{"two.bin": strings.Replace(pointer, "12", "13", 1)}, ""},
		"in a folder":          {map[string]string{"sub/d.enc": "x\n", "d.enc": "x\n"}, "sub/d.enc filter=company-x"},
		"without a filter now": {map[string]string{"vault.yml": "a: b\n"}, "vault.yml seal=ansible-vault"},
		"the rule is taken out": {map[string]string{".gitattributes": "*.bin filter=lfs\n", "secrets/a.key": "k\n"},
			"secrets/a.key seal=git-crypt"},
		"the rule is overridden": {map[string]string{"secrets/.gitattributes": "* !filter !diff\n", "secrets/c.key": "k\n"},
			"secrets/c.key filter=git-crypt"},
		"a rule for large files is taken out": {map[string]string{".gitattributes": "# none\n", "big.bin": "big\n"}, ""},
		"the rule is new": {map[string]string{"conf/.gitattributes": "*.env filter=redact\n", "conf/x.env": "k\n"},
			"conf/x.env filter=redact"},
		"as macOS reads names":     {map[string]string{"Secrets/c.key": "k\n"}, "Secrets/c.key filter=git-crypt"},
		"large files in capitals":  {map[string]string{"BIG.BIN": "big\n"}, ""},
		"an odd name":              {map[string]string{"secrets/a\nb": "k\n"}, "secrets/a\nb filter=git-crypt"},
		"only the rule is changed": {map[string]string{".gitattributes": "*.txt filter=git-crypt\n"}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := gitopstest.New(t, base)
			head := p.Commit("work", c.change)
			diff, err := p.Mirror.Diff(t.Context(), p.Base, head, 0)
			if err != nil {
				t.Fatal(err)
			}
			got, err := p.Mirror.FindBypassed(t.Context(), p.Base, diff.Changes, nil)
			if err != nil {
				t.Fatal(err)
			}
			var lines []string
			for _, file := range got {
				lines = append(lines, fmt.Sprintf("%s %s", file.Path, file.By))
			}
			if strings.Join(lines, "; ") != c.want {
				t.Errorf("%q, not %q", lines, c.want)
			}
		})
	}
}

// A link is stored as it is under any filter, and an earlier content of the range counts as the last one does.
func TestFindBypassedOfLinksAndEarlierContents(t *testing.T) {
	t.Parallel()
	p := gitopstest.New(t, map[string]string{".gitattributes": "secrets/** filter=git-crypt\n", "a.txt": "a\n"})
	p.Commit("work", map[string]string{"secrets/gone": "k\n"})
	p.Commit("work", map[string]string{"secrets/gone": ""})
	p.Git("switch", "-q", "work")
	if err := os.MkdirAll(filepath.Join(p.Dir, "secrets"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("../a.txt", filepath.Join(p.Dir, "secrets", "link")); err != nil {
		t.Fatal(err)
	}
	p.Git("add", "-A")
	p.Git("commit", "-q", "-m", "a link")
	p.Git("switch", "-q", "main")
	head := p.Fetch("work")
	diff, err := p.Mirror.Diff(t.Context(), p.Base, head, 0)
	if err != nil {
		t.Fatal(err)
	}
	news, err := p.Mirror.News(t.Context(), p.Base, head)
	if err != nil {
		t.Fatal(err)
	}
	for name, more := range map[string][]gitops.NewFile{"": nil, "secrets/gone": news.Files} {
		got, err := p.Mirror.FindBypassed(t.Context(), p.Base, diff.Changes, more)
		if err != nil {
			t.Fatal(err)
		}
		found := ""
		for _, file := range got {
			found += file.Path
		}
		if found != name {
			t.Errorf("%q, not %q", found, name)
		}
	}
}
