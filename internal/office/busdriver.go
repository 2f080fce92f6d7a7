package office

import (
	"maps"
	"slices"

	"company/internal/company"
	"company/internal/folder"
)

// BusDriver is the driver of the office's bus: the one that is recorded, or, in an
// office of before this was recorded, the one of which records lie there. Empty:
// nothing was ever kept. records names the folder that each driver has in that of
// the bus.
func (o *Office) BusDriver(records map[string]string) (string, error) {
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

// SettleBusDriver holds the office to the driver that it was made with: a new office
// takes the wanted one. EConfig where another one is wanted, or where the records
// of the office's own are gone and another one's are there: no empty ledger is
// begun beside a full one.
func (o *Office) SettleBusDriver(want string, records map[string]string) error {
	has, err := o.BusDriver(records)
	if err != nil {
		return err
	}
	if has != "" && has != want {
		return company.E(company.EConfig, "this office keeps its ledger with the bus driver "+has+", and bus.driver is "+want).
			Because("the records of one driver are unknown to the other").
			Fix("company config set bus.driver " + has + ", or take the records along: company bus convert --to " + want).NeedsPerson()
	}
	if !hasRecords(o.BusFolder, records[want]) {
		for driver, name := range records {
			if driver != want && hasRecords(o.BusFolder, name) {
				return company.E(company.EConfig, "the ledger of this office is gone: "+o.BusFolder.Join(records[want])).
					Because("records of the driver " + driver + " lie beside it, and a new ledger would hide them").
					Fix(company.PutCopyBack(o.State)).NeedsPerson()
			}
		}
	}
	return o.RecordBusDriver(want)
}

// RecordBusDriver writes down which driver has the office's records.
func (o *Office) RecordBusDriver(driver string) error {
	unlock, err := o.StateFolder.Lock()
	if err != nil {
		return idError(o.StateFolder, err)
	}
	defer unlock()
	rec, known, err := readOfficeFile(o.StateFolder)
	if err != nil || known && rec.Bus == driver {
		return err
	}
	rec.Bus = driver
	return writeOfficeFile(o.StateFolder, rec)
}

func hasRecords(bus *folder.Folder, name string) bool {
	_, err := bus.Lstat(name)
	return err == nil
}
