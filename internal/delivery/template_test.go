package delivery

import (
	"os"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/forge"
	"company/internal/forge/gitea"
	"company/internal/forge/github"
	"company/internal/forge/local"
	"company/internal/gitops/gitopstest"
	"company/internal/merger/mergertest"
)

// A pull request has the sections of the repository's template, as the base has it, with ours in those that it fits.
func TestTemplateOfTheBaseIsUsed(t *testing.T) {
	t.Parallel()
	b, c, f := delivered(t)
	base := b.Project.Commit("template", map[string]string{".github/PULL_REQUEST_TEMPLATE.md": "<!-- hidden -->\n" +
		"## Description\nPlease describe.\n\n## How was it tested?\n\n- [ ] by hand\n\n## Screenshots\n"})
	s := b.View()
	task := *s.Tasks[mergertest.Task]
	prepared := *task.Prepared
	prepared.Base.OID, task.Prepared = base, &prepared
	s.Tasks[mergertest.Task] = &task
	c.Decider = shown{b, s}
	got := b.CarryOut(c.Do, "").(company.RecordDelivery)
	page, err := os.ReadFile(f.FullPagePath(got.Number))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, part := range []string{"# ", "## Description\n\n- Change a", "## How was it tested?\n\n- ",
		"- [ ] by hand", "## Screenshots\n\n_Not filled in", "<!-- company office=", "<details>"} {
		next := strings.Index(string(page)[at:], part)
		if next < 0 {
			t.Fatalf("%q is not in its place:\n%s", part, page)
		}
		at += next
	}
	if strings.Contains(string(page), "hidden") || strings.Contains(string(page), "Please describe") {
		t.Errorf("the prompts are left:\n%s", page)
	}
}

// Each kind of forge has its places. What is in none of them is not a template.
func TestWhereTemplatesAre(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		files []string
		want  map[string]string // path, by kind of forge
	}{
		"GitHub's folder first": {[]string{".github/pull_request_template.md", "PULL_REQUEST_TEMPLATE.md"},
			map[string]string{"github": ".github/pull_request_template.md", "gitea": "PULL_REQUEST_TEMPLATE.md",
				forge.LocalKind: ".github/pull_request_template.md"}},
		"any case, text": {[]string{"docs/Pull_Request_Template.txt"}, map[string]string{
			"github": "docs/Pull_Request_Template.txt", "gitea": "docs/Pull_Request_Template.txt",
			forge.LocalKind: "docs/Pull_Request_Template.txt"}},
		"no ending": {[]string{"PULL_REQUEST_TEMPLATE"}, map[string]string{
			"github": "PULL_REQUEST_TEMPLATE", "gitea": "PULL_REQUEST_TEMPLATE", forge.LocalKind: "PULL_REQUEST_TEMPLATE"}},
		"Forgejo's": {[]string{".forgejo/pull_request_template.md"}, map[string]string{
			"gitea": ".forgejo/pull_request_template.md", forge.LocalKind: ".forgejo/pull_request_template.md"}},
		"GitLab's": {[]string{".gitlab/merge_request_templates/Default.md", ".gitlab/merge_request_templates/bug.md"},
			map[string]string{forge.LocalKind: ".gitlab/merge_request_templates/Default.md"}},
		"Azure's": {[]string{".azuredevops/pull_request_template.md"},
			map[string]string{forge.LocalKind: ".azuredevops/pull_request_template.md"}},
		"the only one of a folder": {[]string{".github/PULL_REQUEST_TEMPLATE/all.md"}, map[string]string{
			"github": ".github/PULL_REQUEST_TEMPLATE/all.md", "gitea": ".github/PULL_REQUEST_TEMPLATE/all.md",
			forge.LocalKind: ".github/PULL_REQUEST_TEMPLATE/all.md"}},
		"one of several":   {[]string{".github/PULL_REQUEST_TEMPLATE/a.md", ".github/PULL_REQUEST_TEMPLATE/b.md"}, nil},
		"a form, a script": {[]string{".github/pull_request_template.yml", "pull_request_template.py"}, nil},
		"elsewhere":        {[]string{"sub/pull_request_template.md", ".github/ISSUE_TEMPLATE.md"}, nil},
	} {
		files := map[string]string{}
		for _, file := range c.files {
			files[file] = "text of " + file
		}
		p := gitopstest.New(t, files)
		for kind, places := range map[string][]string{"github": (*github.Client)(nil).Templates(),
			"gitea": (*gitea.Client)(nil).Templates(), forge.LocalKind: (*local.Forge)(nil).Templates()} {
			want := ""
			if c.want[kind] != "" {
				want = "text of " + c.want[kind]
			}
			if got, err := readTemplate(t.Context(), p.Mirror, p.Base, places); err != nil || got != want {
				t.Errorf("%s, %s: %q, %v, want %q", name, kind, got, err, want)
			}
		}
	}
}
