package office

import (
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/lib/safedir"
)

// BusDriver returns the driver of the office's bus. For an old office without a recorded driver it detects the driver
// by its records. It returns "" if the office never stored records. records maps each driver to its folder within the
// bus folder.
func (o *Office) BusDriver(records map[string]string) (string, error) {
	if o.lostBus != nil {
		return "", o.lostBus
	}
	rec, _, err := readOfficeFile(o.StateFolder)
	if err != nil || rec.Bus != "" {
		return rec.Bus, err
	}
	for _, driver := range slices.Sorted(maps.Keys(records)) {
		if hasRecords(o.BusFolder, records[driver]) {
			return driver, nil
		}
	}
	return "", nil
}

// SettleBusDriver checks that the office uses the driver that it was created with. It records the wanted driver for a
// new office. The error is EConfig if another driver is recorded, or if the driver's own records are missing and
// another driver's exist. So no empty ledger is started beside a full one.
func (o *Office) SettleBusDriver(want string, records map[string]string) error {
	has, err := o.BusDriver(records)
	if err != nil {
		return err
	}
	if has != "" && has != want {
		return company.E(company.EConfig,
			"this office uses the bus driver "+has+", but bus.driver is "+want).
			Because("a driver cannot read the records of another").
			Fix("company config set bus.driver " + has + ", or take the records along: company bus convert --to " + want).
			NeedsPerson()
	}
	if !hasRecords(o.BusFolder, records[want]) {
		for driver, name := range records {
			if driver != want && hasRecords(o.BusFolder, name) {
				return company.E(company.EConfig, "the ledger of this office is missing: "+o.BusFolder.Join(records[want])).
					Because("there are records of the driver " + driver + ", which a new ledger would hide").
					Fix(company.PutCopyBack(o.State)).NeedsPerson()
			}
		}
	}
	return o.RecordBusDriver(want)
}

// RecordBusDriver records which driver has the office's ledger.
func (o *Office) RecordBusDriver(driver string) error {
	return o.editOfficeFile(func(rec *officeFile) { rec.Bus = driver })
}

func hasRecords(bus *safedir.Folder, name string) bool {
	_, err := bus.Lstat(name)
	return err == nil
}
