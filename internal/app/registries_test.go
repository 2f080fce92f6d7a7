package app

import (
	"fmt"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config"
)

// Values of container.setup_env come from the environment and do not print; a
// variable that is not set is said by name.
func TestSetupEnv(t *testing.T) {
	lookup := func(name string) (string, bool) { return map[string]string{"TOKEN": "a-canary"}[name], name == "TOKEN" }
	cfg := config.Config{Container: config.Container{SetupEnv: []string{"TOKEN"}}}
	got, err := SetupEnv(cfg, lookup)
	if err != nil || len(got) != 1 {
		t.Fatalf("%v, %v", got, err)
	}
	for _, form := range []string{"%v", "%+v", "%#v", "%s"} {
		if text := fmt.Sprintf(form, got); text == "" || strings.Contains(text, "a-canary") {
			t.Errorf("%s prints the value", form)
		}
	}
	cfg.Container.SetupEnv = []string{"TOKEN", "OTHER"}
	if _, err := SetupEnv(cfg, lookup); company.CodeOf(err) != company.EConfig || !strings.Contains(err.Error(), "OTHER") {
		t.Errorf("error %v", err)
	}
}
