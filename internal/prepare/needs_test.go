package prepare

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"company/internal/company"
	"company/internal/company/decidertest"
	"company/internal/container/image"
	"company/internal/gates"
	"company/internal/gitops/gitopstest"
)

// barredImages make no image that has added packages.
type barredImages struct{ noImages }

func (barredImages) Ensure(_ context.Context, req image.Request) (image.Image, error) {
	if len(req.Packages) > 0 {
		return image.Image{}, errors.New("the archive is away")
	}
	return image.Image{Key: "made", ID: "sha256:made"}, nil
}

// Packages for which the base looked and that cannot be installed are left out: it is judged as it is.
func TestPackagesThatCannotBeInstalledAreLeftOut(t *testing.T) {
	p := gitopstest.New(t, map[string]string{"a": "x\n"})
	d := decidertest.New(t)
	id := d.Must(company.Submit{Instruction: "do it", Project: company.Project{ID: "project", Path: p.Dir}})[0].Task
	in := newIntake(t, d, p, "develop", Project{Lint: gates.Auto, Test: "go test ./..."})
	told := &heard{}
	in.Images, in.Watcher = barredImages{}, told
	if _, err := in.prepare(t, d, id); err != nil {
		t.Fatal(err)
	}
	d.Must(company.AddNeeds{Task: id,
		NeedsAdded: company.NeedsAdded{Needs: company.Needs{Packages: []string{"jq"}}, Check: "test"}})
	cmd, err := in.MakeImage(t.Context(), company.Effect{Task: id})
	if err != nil {
		t.Fatal(err)
	}
	d.Must(cmd)
	if got := d.View().Tasks[id].Prepared; got.Image != "made" || len(got.Packages) > 0 || got.MorePackages {
		t.Errorf("%+v", got)
	}
	if !slices.ContainsFunc(*told, func(s string) bool { return strings.Contains(s, "jq cannot be installed") }) {
		t.Errorf("%q", *told)
	}
}
