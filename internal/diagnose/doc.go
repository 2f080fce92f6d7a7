// Package diagnose checks whether this machine and this office can work.
//
// It owns the checks of doctor, and the preflight of a submission: the
// repository, the Docker daemon and a model for each role, all at once, before
// anything is made. Rooms that know a check of their own bring it as health.Check.
//
// It promises that no check changes anything but what it opens and closes again,
// that a check which does not answer in time is unknown and never a pass, and that
// each failure says how it is put right. It prints nothing.
package diagnose
