/* SPDX-License-Identifier: MIT */
#include "no-such-header.h"
