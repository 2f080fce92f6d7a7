package cli

import (
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
	"company/test/heldoffice"
)

// A task that is submitted with --model keeps that profile for its roles; the next task has
// the config's again.
func TestSubmitModel(t *testing.T) {
	o := heldoffice.Open(t)
	home, _ := o.LookupEnv("HOME")
	configtest.WriteFile(t, filepath.Join(home, ".config", "company", "config.yaml"), `version: 1
models:
  default: {adapter: openai, model: small}
  large: {adapter: openai, model: big, base_url: "http://model.invalid/v1"}
`)
	o.Serve()
	for args, says := range map[string]string{
		"--model=lagre x": `unknown model profile "lagre"`, "--model= x": "--model is empty",
		"--plan=t1 --model=large": "--plan and --model cannot be used together",
	} {
		requireRefusal(t, o.Run(t.Context(), execute, append([]string{"submit", "--detach"}, strings.Fields(args)...)...),
			company.EUsage, says)
	}
	if r := o.Run(t.Context(), execute, "submit", "--detach", "--model", "lagre", "x"); !strings.Contains(
		r.Err, "did you mean large? profiles of the config: default, large") {
		t.Errorf("%+v", r)
	}
	for _, args := range [][]string{
		{"--model", "large"}, {"--model", "large", "--set", "agents.reviewer.model=default"}, {},
	} {
		if r := o.Run(t.Context(), execute, append([]string{"submit", "--detach", "add c"}, args...)...); r.Code != 0 {
			t.Fatalf("%v: %+v", args, r)
		}
	}
	for id, want := range map[company.TaskID]string{
		"t1": "manager large (openai big), worker large (openai big), reviewer large (openai big), merger large (openai big)",
		"t2": "manager large (openai big), worker large (openai big), reviewer default (openai small), merger large " +
			"(openai big)",
		"t3": "manager default (openai small), worker default (openai small), reviewer default (openai small), merger " +
			"default (openai small)",
	} {
		if got := o.Task(id).Settings.Agents.NameModels(); got != want {
			t.Errorf("%s has %s, want %s", id, got, want)
		}
	}
}
