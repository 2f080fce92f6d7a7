package app

import "company/internal/ledger"

// LedgerOf is the ledger of an open office.
func LedgerOf(a *App) *ledger.Ledger { return a.ledger }
