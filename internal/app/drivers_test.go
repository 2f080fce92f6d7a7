package app

import (
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"company/internal/company"
	"company/internal/office/config"
	"company/internal/toolbox/toolproto"
)

// The schema of company.yaml names the drivers that exist, and no others.
func TestSchemaNamesDriversThatExist(t *testing.T) {
	var forges []string
	for _, driver := range ForgeDrivers {
		forges = append(forges, driver.Kind)
	}
	for key, drivers := range map[string][]string{
		"bus.driver":               BusDriverNames(),
		"models.<profile>.adapter": append(slices.Collect(maps.Keys(ModelDrivers)), company.AdapterProgram),
		"forge.kind":               append(forges, config.Auto, "local"),
	} {
		named := strings.Split(findKey(t, key).Allowed, ", ")
		slices.Sort(named)
		slices.Sort(drivers)
		if !slices.Equal(named, drivers) {
			t.Errorf("%s takes %v, and there are %v", key, named, drivers)
		}
	}
	_, longest, _ := strings.Cut(findKey(t, "workers.command_timeout").Allowed, "–")
	if d, err := time.ParseDuration(longest); err != nil || d > toolproto.MaxCommandTimeout {
		t.Errorf("workers.command_timeout goes up to %q, and a container allows %v", longest, toolproto.MaxCommandTimeout)
	}
}

func findKey(t *testing.T, name string) config.Key {
	t.Helper()
	for _, k := range config.Keys() {
		if k.Name == name {
			return k
		}
	}
	t.Fatalf("there is no key %s", name)
	return config.Key{}
}
