package config

import (
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/office/config/configtest"
)

// X27, TST-6: a script answers instead of a model only in a test, or where the command line says so. No file that git tracks
// can choose it, and nothing can in production.
func TestScriptedNeedsATest(t *testing.T) {
	const scripted = "models: {default: {adapter: scripted, script: s.yaml}}\n"
	const real = "models: {default: {adapter: openai, model: m, script: s.yaml}}\n"
	flag := map[string]string{"models.default.adapter": "scripted"}
	for name, x := range map[string]struct {
		text, environment string
		flags             map[string]string
		tracked           bool
		refused           string
	}{
		"in a test":               {scripted, "test", nil, false, ""},
		"on the command line":     {real, "", flag, false, ""},
		"without either":          {scripted, "", nil, false, "models.default.adapter is scripted, which is for tests"},
		"in another environment":  {real, "prod", flag, false, `is scripted, and COMPANY_ENV is "prod"`},
		"in production":           {scripted, "production", nil, false, "is forbidden with COMPANY_ENV=production"},
		"in production by a flag": {real, "production", flag, false, "is forbidden with COMPANY_ENV=production"},
		"tracked, in a test":      {scripted, "test", nil, true, "may not be scripted in a file that git tracks"},
	} {
		t.Run(name, func(t *testing.T) {
			own := t.TempDir()
			options := LoadOptions{Flags: x.flags, Env: configtest.Env(map[string]string{VarEnvironment: x.environment,
				"XDG_STATE_HOME": t.TempDir(), "XDG_CONFIG_HOME": own})}
			if !x.tracked {
				configtest.WriteFile(t, filepath.Join(own, "company", "config.yaml"), x.text)
			} else {
				options.OfficeDir = configtest.Office(t, x.text)
				for _, args := range [][]string{{"init", "-q"}, {"add", "-f", ConfigName}} {
					cmd := exec.Command("git", append([]string{"-C", options.OfficeDir}, args...)...)
					if out, err := cmd.CombinedOutput(); err != nil {
						t.Fatalf("%v\n%s", err, out)
					}
				}
			}
			_, err := Load(t.Context(), options)
			if x.refused == "" && err != nil {
				t.Fatal(errorText(err))
			}
			if x.refused != "" && (company.CodeOf(err) != company.EConfig || !strings.Contains(errorText(err), x.refused)) {
				t.Errorf("%s, want %q", errorText(err), x.refused)
			}
		})
	}
}

// errorText returns an error with its details.
func errorText(err error) string {
	var fault *company.Error
	if errors.As(err, &fault) {
		return fault.Error() + "\n" + fault.Details + fault.Why
	}
	return fmt.Sprint(err)
}
