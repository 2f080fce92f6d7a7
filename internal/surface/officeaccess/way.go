package officeaccess

import (
	"slices"
	"strings"

	"company/internal/company"
)

// ChooseWay returns the function of a flag that sets plan.way. Setting it twice returns EUsage.
func (ent *Entrance) ChooseWay(way string) func(string) error {
	const key = "plan.way="
	return func(string) error {
		if slices.ContainsFunc(ent.ConfigFlags, func(kv string) bool { return strings.HasPrefix(kv, key) }) {
			return company.E(company.EUsage, "--one, --split and --set plan.way cannot be combined").
				Fix("use one of them, once")
		}
		ent.ConfigFlags = append(ent.ConfigFlags, key+way)
		return nil
	}
}
