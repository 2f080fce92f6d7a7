// Package file is a driver of the bus that keeps each subject in a file of its own, without a server.
//
// It owns one folder, which holds a lock against other processes, blobs/ (as in every driver with a
// folder) and log/:
//
//	log/ledger-5f0c….log        the ledger
//	log/run.t1-01.1-9a41….log   the journal of a run; a purge removes it
//	log/queue.c5p2…-03be….log   an item of the queue; it is removed once it is settled
//
// The digits in a name are the file's mark, eight random bytes. A file is a sequence of frames. A frame
// is a record with a CRC-32C, which also covers its offset, followed by room for the mark. The mark is
// written there once the record is synced.
//
// The mark distinguishes a torn tail from damage. A frame that cannot be read was never acknowledged if
// there is no mark behind it: it is truncated and reported to the logger. Otherwise it is ELedger with
// file and offset, and the bus is not opened. Three cases cannot be detected here: damage to the last
// record after a power cut that also destroyed its mark, a tail that was truncated by hand, and a file
// that was removed by hand. The ledger's chain and snapshot, and its seals of journals, detect those,
// except for the file of a journal that is not sealed yet.
//
// Each start writes the last record of a file again and syncs it, unless its mark is there. After a
// kill or a failed sync the kernel may show bytes that are not on disk
// (docs/decisions/starts-and-snapshots.md).
package file
