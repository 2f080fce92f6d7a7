package prepare

import (
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
	"company/internal/office/config"
	"company/internal/office/config/configtest"
)

// The text that describes an image counts once the president has let it, and a change
// of it on the base waits for the president again.
func TestDockerfileNeedsTrust(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"build/Dockerfile": "FROM example/base:1\n"})
	trust := config.OpenTrust(configtest.Env(map[string]string{"HOME": t.TempDir()})).ForCheckout(p.Dir)
	prepare := func() ([]image.Request, error) {
		d := decidertest.New(t)
		evs := d.Must(company.Submit{Instruction: "do it", Project: company.Project{ID: "project", Path: p.Dir}})
		in := newIntake(t, d, p, "develop",
			Project{Dockerfile: "build/Dockerfile", Trust: trust, Lint: gates.Auto, Test: gates.Auto})
		images := &lockingImages{}
		in.Images = images
		_, err := in.prepare(t, d, evs[0].Task)
		return images.asked, err
	}
	refused := func() {
		t.Helper()
		asked, err := prepare()
		if len(asked) > 0 || company.CodeOf(err) != company.EConfig || !company.NeedsPerson(err) ||
			!strings.Contains(err.Error(), "build/Dockerfile of commit") {
			t.Fatalf("asked %+v, error %v", asked, err)
		}
	}
	refused()
	m, err := p.MirrorOf(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	source, err := image.ReadDockerfile(t.Context(), m.Dir(), p.Fetch("main"), "build/Dockerfile")
	if err != nil {
		t.Fatal(err)
	}
	if err := trust.AddDockerfile(t.Context(), source.HashTexts()); err != nil {
		t.Fatal(err)
	}
	asked, err := prepare()
	if err != nil || len(asked) != 1 || asked[0].Dockerfile == nil ||
		asked[0].Dockerfile.HashTexts() != source.HashTexts() {
		t.Fatalf("asked %+v, error %v", asked, err)
	}
	p.Commit("main", map[string]string{"build/Dockerfile": "FROM example/other:1\n"})
	refused()
}
