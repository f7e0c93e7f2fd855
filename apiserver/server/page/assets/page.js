// SPDX-License-Identifier: Apache-2.0
// Makes the pages nicer, and is needed for nothing: forms and links go without a full
// reload, lists are filtered while somebody types, and the code of a magic link does not
// stay in the address.
'use strict';

(() => {
  if (new URLSearchParams(location.search).has('magicCode')) {
    history.replaceState(null, '', location.pathname);
  }
})();
